import { init } from 'echarts'
import { showControls } from '../../lib/printable.js'
import { escapeMarkup } from '../markup.js'
import { BACKGROUND } from './palette.js'
import { WIDTH } from './style.js'

/** @import { Chart } from './style.js' */

/** Draws an SVG in light colours. @param {Chart} given @param {{ isStandalone?: boolean, width?: number }} [options] */
export function drawSvg({ title, description, height, option }, { isStandalone = false, width = WIDTH } = {}) {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  try {
    chart.setOption(isStandalone ? { ...option, backgroundColor: BACKGROUND } : option)
    const svg = showControls(chart.renderToSVGString())
    if (!isStandalone) return svg
    const named = `<title>${escapeMarkup(title)}</title><desc>${escapeMarkup(description)}</desc>`
    return svg.replace(/^<svg[^>]*>/, opening => `${opening}${named}`)
  } finally {
    chart.dispose()
  }
}
