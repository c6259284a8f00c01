import { drawOverTime } from '/charts/over-time.js'
import { drawRounds } from '/charts/rounds.js'
import { withPalette } from '/charts/style.js'
import { findElement, setText } from './page-elements.js'
import { SIDECARS_SHOWN } from './words.js'

/** The charts of the page. Runs in browsers. @import { Chart } from '../report/charts/style.js' */
/** @import { SidecarSeries } from '../judge/sidecars.js' */

// Drawing more often takes CPU, and the browser may run on the machine that is measured.
const PERIOD_MS = 500
// `createColours` gives this index to arms without sidecars, whose CPU per request is none of a sidecar.
const COLOUR_WITHOUT_SIDECARS = 0

/**
 * Creates the charts. Each draws itself at most twice a second, if it has changed and the page is visible.
 * @returns drawSeries: draws the sidecars of a trial; clearSeries: hides that chart; drawAllRounds: draws the rounds of all
 *   arms
 */
export function createCharts() {
  const overTime = createPanel('over-time')
  const throughput = createPanel('throughput')
  const cpuPerRequest = createPanel('cpu-per-request')
  return {
    /**
     * Draws the series of the first SIDECARS_SHOWN sidecars of a trial. Without any point yet, the previous chart stays.
     * @param {SidecarSeries[]} series
     * @param {string} trial its name
     */
    drawSeries(series, trial) {
      if (!series.some(({ cores, anonBytes }) => cores.length + anonBytes.length > 0)) return
      const drawnSeries = series.slice(0, SIDECARS_SHOWN)
      const sidecarsNote =
        series.length > drawnSeries.length ? `, the first ${drawnSeries.length} of ${series.length} sidecars` : ''
      overTime(() => drawOverTime({ title: `CPU and memory of ${trial}${sidecarsNote}`, sidecars: drawnSeries }))
    },
    clearSeries: () => overTime(null),
    /**
     * Draws every round of every arm, and the CPU per request of the arms with sidecars. A chart without rows is hidden.
     * @param {import('./results.js').LiveRow[]} rows
     */
    drawAllRounds(rows) {
      const throughputRows = rows.map(row => ({ ...row, quantity: row.throughput }))
      const cpuRows = rows
        .filter(row => row.colour !== COLOUR_WITHOUT_SIDECARS)
        .map(row => ({ ...row, quantity: row.cpuPerRequest }))
      const draw = (
        /** @type {string} */ title,
        /** @type {string} */ unit,
        /** @type {typeof throughputRows} */ drawn,
      ) => (drawn.length === 0 ? null : () => drawRounds({ title, unit, digits: 0, rows: drawn }))
      throughput(draw('Requests/s, round by round', 'requests/s', throughputRows))
      cpuPerRequest(draw('CPU per request, round by round', 'µs', cpuRows))
    },
  }
}

/**
 * Creates a figure.
 * @param {string} id of the element in page.html
 * @returns {(next: (() => Chart) | null) => void} sets the chart; null: the figure is hidden
 */
function createPanel(id) {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const figure = findElement(id)
  const caption = /** @type {HTMLElement} */ (figure.querySelector('figcaption'))
  const place = /** @type {HTMLElement} */ (figure.querySelector('[role=img]'))
  /** @type {import('echarts').ECharts | undefined} */
  let instance
  /** @type {(() => Chart) | null} */
  let createChart = null
  let isChanged = false
  const draw = () => {
    isChanged = false
    figure.hidden = createChart === null
    if (createChart === null) return
    const { title, description, height, option } = createChart()
    setText(caption, title)
    place.setAttribute('aria-label', description)
    place.style.height = `${height}px`
    instance ??= echarts.init(place, null, { renderer: 'svg' })
    if (instance.getHeight() !== height || instance.getWidth() !== place.clientWidth) instance.resize()
    instance.setOption(withPalette(option, dark.matches), true)
  }
  setInterval(() => {
    if (isChanged && !document.hidden) draw()
  }, PERIOD_MS)
  addEventListener('resize', () => instance?.resize())
  dark.addEventListener('change', () => {
    isChanged = true
  })
  /** @param {(() => Chart) | null} next null: the figure is hidden */
  return next => {
    createChart = next
    isChanged = true
  }
}
