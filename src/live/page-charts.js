import { drawOverTime } from '/charts/over-time.js'
import { drawRounds } from '/charts/rounds.js'
import { applyTheme } from '/charts/style.js'
import { findElement, setText } from './page-elements.js'
import { SIDECARS_SHOWN } from './words.js'

/**
 * The charts of the page. Runs in browsers.
 * @import { Chart } from '../report/charts/style.js'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 */

// Drawing more often takes CPU, and the browser may run on the machine that is measured.
const DRAW_INTERVAL_MS = 500
// `createColourChooser` gives this index to arms without sidecars. They have no CPU of a sidecar to draw.
const COLOUR_WITHOUT_SIDECARS = 0

/**
 * Creates the charts. Each draws itself at most once in DRAW_INTERVAL_MS, if it has changed and the page is visible.
 * @returns drawSeries: draws the sidecars of a trial; clearSeries: hides that chart; drawAllRounds: draws the rounds of all
 *   arms; a change is drawn within DRAW_INTERVAL_MS, or once the page is visible
 * @throws {Error} if page.html lacks the figure of a chart
 */
export function createCharts() {
  const setOverTime = createPanel('over-time')
  const setThroughput = createPanel('throughput')
  const setCpuPerRequest = createPanel('cpu-per-request')
  return {
    /**
     * Draws the series of the first SIDECARS_SHOWN sidecars of a trial. Without any point yet, the previous chart stays.
     * @param {SidecarSeries[]} series of the trial
     * @param {string} trial its place and arm, for the title; empty: not known
     */
    drawSeries(series, trial) {
      if (!series.some(({ cores, anonBytes }) => cores.length + anonBytes.length > 0)) return
      const drawnSeries = series.slice(0, SIDECARS_SHOWN)
      const sidecarsNote =
        series.length > drawnSeries.length ? `, the first ${drawnSeries.length} of ${series.length} sidecars` : ''
      setOverTime(() => drawOverTime({ title: `CPU and memory of ${trial}${sidecarsNote}`, sidecars: drawnSeries }))
    },
    clearSeries: () => setOverTime(null),
    /**
     * Draws every round of every arm, and the CPU per request of the arms with sidecars. A chart without rows is hidden.
     * @param {import('./results.js').LiveRow[]} rows
     */
    drawAllRounds(rows) {
      const throughputRows = rows.map(row => ({ ...row, quantity: row.throughput }))
      const cpuRows = rows
        .filter(row => row.colour !== COLOUR_WITHOUT_SIDECARS)
        .map(row => ({ ...row, quantity: row.cpuPerRequest }))
      setThroughput(
        createRoundsChart({ title: 'Requests/s, round by round', unit: 'requests/s', rows: throughputRows }),
      )
      setCpuPerRequest(createRoundsChart({ title: 'CPU per request, round by round', unit: 'µs', rows: cpuRows }))
    },
  }
}

/**
 * Creates the function that draws a chart of rounds, for a panel.
 * @param {Omit<Parameters<typeof drawRounds>[0], 'digits'>} options
 * @returns {(() => Chart) | null} null: there are no rows
 */
function createRoundsChart(options) {
  return options.rows.length === 0 ? null : () => drawRounds({ ...options, digits: 0 })
}

/**
 * Creates a panel, which draws its chart at most once in DRAW_INTERVAL_MS, and only while the page is visible. It draws again if the
 * theme changes, and fits the width of the page. Its timer and listeners stay for as long as the page.
 * @param {string} id of the figure in page.html
 * @returns {(next: (() => Chart) | null) => void} sets the chart; null: the figure is hidden
 * @throws {Error} if page.html has no figure of this id
 */
function createPanel(id) {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const figure = findElement(id)
  const caption = /** @type {HTMLElement} */ (figure.querySelector('figcaption'))
  const container = /** @type {HTMLElement} */ (figure.querySelector('[role=img]'))
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
    container.setAttribute('aria-label', description)
    container.style.height = `${height}px`
    instance ??= echarts.init(container, null, { renderer: 'svg' })
    if (instance.getHeight() !== height || instance.getWidth() !== container.clientWidth) instance.resize()
    instance.setOption(applyTheme(option, dark.matches), true)
  }
  setInterval(() => {
    if (isChanged && !document.hidden) draw()
  }, DRAW_INTERVAL_MS)
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
