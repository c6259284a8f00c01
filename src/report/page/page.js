// The script of a report's page makes its charts interactive, and shows any trial that a reader chooses. It is joined with the
// modules of src/report/charts/ that it uses to one script with one scope. Without it, the page still has all numbers.
import { drawOverTime } from '../charts/over-time.js'
import { applyTheme } from '../charts/style.js'

const { charts, series } = JSON.parse(document.getElementById('data')?.textContent ?? '{}')
const dark = matchMedia('(prefers-color-scheme: dark)')
/** @type {Map<HTMLElement, { instance: any, option: any }>} */
const drawnCharts = new Map()

/**
 * Draws a chart into an element in the theme of the browser, and replaces the chart that it has. `drawnCharts` keeps it, so that it
 * is drawn again if the theme changes.
 * @param {HTMLElement} element
 * @param {{ option: any, height: number }} chart height: in pixels
 */
function drawChart(element, { option, height }) {
  element.style.height = `${height}px`
  let entry = drawnCharts.get(element)
  if (!entry) {
    element.replaceChildren()
    entry = { instance: /** @type {any} */ (window).echarts.init(element, null, { renderer: 'svg' }), option }
    drawnCharts.set(element, entry)
  }
  entry.option = option
  entry.instance.setOption(applyTheme(option, dark.matches), true)
}

// A chart becomes interactive when it is scrolled into view: a report may hold a hundred.
const watcher = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue
    watcher.unobserve(target)
    const element = /** @type {HTMLElement} */ (target)
    drawChart(element, charts[element.dataset.chart ?? ''])
  }
})
for (const element of document.querySelectorAll('[data-chart]')) watcher.observe(element)

dark.addEventListener('change', () => {
  for (const [element, { option }] of drawnCharts) drawChart(element, { option, height: element.clientHeight })
})
addEventListener('resize', () => {
  for (const { instance } of drawnCharts.values()) instance.resize()
})

const explorer = document.querySelector('.explorer')
const chooser = explorer?.querySelector('select')
const trialChart = /** @type {HTMLElement | null} */ (explorer?.querySelector('.chart') ?? null)
if (explorer instanceof HTMLElement && chooser && trialChart) {
  const ids = Object.keys(series)
  for (const id of ids) chooser.append(new Option(id, id))
  const drawChosenTrial = () => {
    const chart = drawOverTime({ title: chooser.value, sidecars: series[chooser.value] })
    trialChart.setAttribute('aria-label', chart.description)
    drawChart(trialChart, chart)
  }
  chooser.addEventListener('change', drawChosenTrial)
  explorer.hidden = ids.length === 0
  if (ids.length > 0) drawChosenTrial()
}
