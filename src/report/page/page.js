// The script of a report's page makes the drawn charts of a report interactive, and shows any trial. It runs behind the modules of
// src/report/charts/ that it uses, in one script; without it, the page is complete.
import { drawOverTime } from '../charts/over-time.js'
import { withPalette } from '../charts/style.js'

const { charts, series } = JSON.parse(document.getElementById('data')?.textContent ?? '{}')
const dark = matchMedia('(prefers-color-scheme: dark)')
/** @type {Map<HTMLElement, { instance: any, option: any }>} */
const drawn = new Map()

/**
 * Draws a chart into an element, and replaces the chart that it has.
 * @param {HTMLElement} element
 * @param {{ option: any, height: number }} chart height: pixels
 */
function draw(element, { option, height }) {
  element.style.height = `${height}px`
  let entry = drawn.get(element)
  if (!entry) {
    element.replaceChildren()
    entry = { instance: /** @type {any} */ (window).echarts.init(element, null, { renderer: 'svg' }), option }
    drawn.set(element, entry)
  }
  entry.option = option
  entry.instance.setOption(withPalette(option, dark.matches), true)
}

// A chart becomes interactive when it is scrolled into view: a report may hold a hundred.
const watcher = new IntersectionObserver(entries => {
  for (const { target, isIntersecting } of entries) {
    if (!isIntersecting) continue
    watcher.unobserve(target)
    const at = /** @type {HTMLElement} */ (target)
    draw(at, charts[at.dataset.chart ?? ''])
  }
})
for (const at of document.querySelectorAll('[data-chart]')) watcher.observe(at)

dark.addEventListener('change', () => {
  for (const [at, { option }] of drawn) draw(at, { option, height: at.clientHeight })
})
addEventListener('resize', () => {
  for (const { instance } of drawn.values()) instance.resize()
})

const explorer = document.querySelector('.explorer')
const chooser = explorer?.querySelector('select')
const at = /** @type {HTMLElement | null} */ (explorer?.querySelector('.chart') ?? null)
if (explorer instanceof HTMLElement && chooser && at) {
  const ids = Object.keys(series)
  for (const id of ids) chooser.append(new Option(id, id))
  const drawChosen = () => {
    const chart = drawOverTime({ title: chooser.value, sidecars: series[chooser.value] })
    at.setAttribute('aria-label', chart.description)
    draw(at, chart)
  }
  chooser.addEventListener('change', drawChosen)
  explorer.hidden = ids.length === 0
  if (ids.length > 0) drawChosen()
}
