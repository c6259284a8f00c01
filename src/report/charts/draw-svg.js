import { init } from 'echarts'
import { WIDTH } from './style.js'

/**
 * @import { Chart } from './style.js'
 */

/**
 * A chart as an SVG document, in light colours.
 * @param {Chart} chart
 * @returns {string}
 */
export function drawSvg({ height, option }) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })
  try {
    chart.setOption(option)
    return chart.renderToSVGString()
  } finally {
    chart.dispose()
  }
}
