import { drawOverTime } from '/charts/over-time.js'
import { withPalette } from '/charts/palette.js'
import { drawRounds } from '/charts/rounds.js'
import { findElement, setText } from './page-elements.js'
import { SIDECARS_SHOWN } from './words.js'

/**
 * The charts of the page. Runs in browsers.
 * @import { Chart } from '../report/charts/style.js'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 * @import { LiveRow } from './results.js'
 */

// The browser may run on the machine that is measured.
const PERIOD_MS = 500

export function createCharts() {
  const dark = matchMedia('(prefers-color-scheme: dark)')
  const overTime = createPanel('over-time', dark)
  const throughput = createPanel('throughput', dark)
  const cpuPerRequest = createPanel('cpu-per-request', dark)
  const panels = [overTime, throughput, cpuPerRequest]
  setInterval(() => {
    if (!document.hidden) for (const panel of panels) panel.drawIfChanged()
  }, PERIOD_MS)
  addEventListener('resize', () => {
    for (const panel of panels) panel.resize()
  })
  dark.addEventListener('change', () => {
    for (const panel of panels) panel.redraw()
  })
  return {
    /**
     * The series of a trial; without a point, what was drawn stays.
     * @param {SidecarSeries[]} series
     * @param {string} trial what it is called
     */
    showSeries(series, trial) {
      if (!series.some(({ cores, anonBytes }) => cores.length + anonBytes.length > 0)) return
      const shown = series.slice(0, SIDECARS_SHOWN)
      const which = series.length > shown.length ? `, the first ${shown.length} of ${series.length} sidecars` : ''
      overTime.show(() => drawOverTime({ title: `CPU and memory of ${trial}${which}`, sidecars: shown }))
    },
    clearSeries: () => overTime.show(null),
    /** @param {LiveRow[]} rows */
    showRows(rows) {
      const of = (/** @type {'throughput' | 'cpuPerRequest'} */ name) =>
        rows
          .filter(({ colour }) => name === 'throughput' || colour !== 0)
          .map(({ label, colour, [name]: quantity }) => ({ label, colour, quantity }))
      const draw = (
        /** @type {string} */ title,
        /** @type {string} */ unit,
        /** @type {ReturnType<typeof of>} */ own,
      ) => (own.length === 0 ? null : () => drawRounds({ title, unit, digits: 0, rows: own }))
      throughput.show(draw('Requests/s, round by round', 'requests/s', of('throughput')))
      cpuPerRequest.show(draw('CPU per request, round by round', 'µs', of('cpuPerRequest')))
    },
  }
}

/** A figure with a chart in it, that is drawn when it is its turn. @param {string} id @param {MediaQueryList} dark */
function createPanel(id, dark) {
  const figure = findElement(id)
  const caption = /** @type {HTMLElement} */ (figure.querySelector('figcaption'))
  const place = /** @type {HTMLElement} */ (figure.querySelector('[role=img]'))
  /** @type {import('echarts').ECharts | undefined} */
  let instance
  /** @type {(() => Chart) | null} */
  let make = null
  let isChanged = false
  const drawIfChanged = () => {
    if (!isChanged) return
    isChanged = false
    figure.hidden = make === null
    if (make === null) return
    const { title, description, height, option } = make()
    setText(caption, title)
    place.setAttribute('aria-label', description)
    place.style.height = `${height}px`
    instance ??= echarts.init(place, null, { renderer: 'svg' })
    if (instance.getHeight() !== height || instance.getWidth() !== place.clientWidth) instance.resize()
    instance.setOption(withPalette(option, dark.matches), true)
  }
  return {
    drawIfChanged,
    /** @param {(() => Chart) | null} next null: nothing to draw */
    show(next) {
      make = next
      isChanged = true
    },
    redraw() {
      isChanged = true
    },
    resize: () => instance?.resize(),
  }
}
