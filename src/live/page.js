import { appendPoint, appendStretch } from '../lib/bounded.js'
import { createCharts } from './page-charts.js'
import { findElement, setText } from './page-elements.js'
import { createSidecarList, createTrialTable } from './page-lists.js'
import {
  renderArm,
  renderEnded,
  renderNumber,
  renderPlace,
  renderTimeLeft,
  renderTrialPlace,
  renderValues,
} from './words.js'

/**
 * The page of a run: keeps the events of the server, which stream.js defines, and shows them. Runs in browsers.
 * @import { LiveResult, LiveRow } from './results.js' @import { SidecarSeries } from '../judge/sidecars.js'
 */

const charts = createCharts()
const sidecarList = createSidecarList()
const trialTable = createTrialTable()
const progressBar = /** @type {HTMLProgressElement} */ (findElement('progress-bar'))

/** @type {SidecarSeries[]} */
let series = []
/** @type {LiveResult[]} */
let results = []
/** The time left at a moment of performance.now(); null: not known. @type {{ seconds: number, sinceMs: number } | null} */
let left = null

findElement('live').hidden = false
listen()
setInterval(showLeft, 1000)

/** Shows the events of the server until the run ends. The browser reconnects by itself unless it closed the source. */
function listen() {
  const source = new EventSource('/events')
  const on = (/** @type {string} */ name, /** @type {(event: any) => void} */ show) =>
    source.addEventListener(name, event => show(JSON.parse(event.data)))
  source.addEventListener('open', () => show('connection', ''))
  source.addEventListener('error', () => {
    const isOver = source.readyState === EventSource.CLOSED
    show('connection', isOver ? 'connection lost: load the page again' : 'connection lost, trying again')
  })
  on('reset', event => {
    results = event.results
    series = event.series
    charts.clearSeries()
    showSnapshot(event.snapshot)
    showTrials(event.rows)
  })
  on('new-trial', () => {
    series = []
  })
  on('state', ({ snapshot, points }) => {
    addPoints(points)
    showSnapshot(snapshot)
  })
  on('trial', ({ result, rows }) => {
    results.push(result)
    showTrials(rows)
  })
  on('end', ({ snapshot }) => {
    source.close()
    showSnapshot(snapshot)
    show('connection', 'the run has ended: nothing more will come')
  })
}

/** Adds to the kept series, which are thinned as the server thins its own. @param {SidecarSeries[]} points that are new */
function addPoints(points) {
  for (const added of points) {
    let sidecar = series.find(({ service }) => service === added.service)
    if (sidecar === undefined) {
      sidecar = { ...added, cores: [], anonBytes: [], throttled: [] }
      series.push(sidecar)
    }
    for (const point of added.cores) appendPoint(sidecar.cores, point)
    for (const point of added.anonBytes) appendPoint(sidecar.anonBytes, point)
    for (const stretch of added.throttled) appendStretch(sidecar.throttled, stretch)
  }
}

/** Shows the texts, progress and sidecars of a run, and the series of the trial. @param {import('./state.js').RunSnapshot} snapshot */
function showSnapshot(snapshot) {
  const { runId, experiment, question, phase, progress, done, trials, arm, outcomes, ending } = snapshot
  const trial = renderTrialPlace(snapshot)
  const now = phase ?? ending?.outcome
  const arms = arm === null ? null : [arm.name, renderArm(arm)].filter(Boolean).join(', ')
  show('experiment', experiment ?? 'sidecar-bench')
  show('question', question)
  show('run', runId === null ? null : `run ${runId}`)
  show('phase', now ?? 'between trials')
  show('arm', arms)
  show('so-far', snapshot.parts.map(part => `${renderPlace(part)}: ${renderValues(part)}.`).join(' '))
  show('progress', [progress, trial].filter(Boolean).join(', ') || '–')
  show('rate', renderNumber(snapshot.ratePerSecond))
  show('failed', `${renderNumber(snapshot.failed)} in this trial, ${snapshot.failedInAll} in all`)
  show('outcomes', `${outcomes.completed} completed, ${outcomes.failed} failed, ${outcomes.invalid} invalid`)
  document.title = [experiment, trial, now].filter(Boolean).join(', ') || 'sidecar-bench'

  progressBar.hidden = trials === null
  progressBar.max = Math.max(1, trials ?? 1)
  progressBar.value = Math.min(done, progressBar.max)
  progressBar.setAttribute('aria-valuetext', renderEnded({ done, trials }))

  left = snapshot.secondsLeft === null ? null : { seconds: snapshot.secondsLeft, sinceMs: performance.now() }
  showLeft()
  sidecarList.show(snapshot.sidecars)
  charts.showSeries(series, [trial, arms].filter(Boolean).join(', '))
}

/** @param {LiveRow[]} rows */
function showTrials(rows) {
  charts.showRows(rows)
  trialTable.show(results, rows)
}

// A cluster sends no event during a window, so the page counts the time down by itself.
function showLeft() {
  const seconds = left && Math.max(0, left.seconds - (performance.now() - left.sinceMs) / 1000)
  show('left', renderTimeLeft(seconds) ?? '–')
}

/** @param {string} id @param {string | null} text null: empty */
function show(id, text) {
  setText(findElement(id), text)
}
