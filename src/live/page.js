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
 * The page of a run: keeps the server-sent events that stream.js defines, and shows them. Runs in browsers.
 * @import { LiveResult, LiveRow } from './results.js'
 * @import { SidecarSeries } from '../judge/sidecars.js'
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
followEvents()
setInterval(updateTimeLeft, 1000)

/** Shows the events of the server until the run ends. The browser reconnects by itself unless it closed the source. */
function followEvents() {
  const source = new EventSource('/events')
  const handleEvent = (/** @type {string} */ name, /** @type {(event: any) => void} */ handle) =>
    source.addEventListener(name, event => handle(JSON.parse(event.data)))
  source.addEventListener('open', () => setTextById('connection', ''))
  source.addEventListener('error', () => {
    const isOver = source.readyState === EventSource.CLOSED
    setTextById('connection', isOver ? 'connection lost: load the page again' : 'connection lost, trying again')
  })
  handleEvent('reset', event => {
    results = event.results
    series = event.series
    charts.clearSeries()
    updateFromSnapshot(event.snapshot)
    updateTrials(event.rows)
  })
  handleEvent('new-trial', () => {
    series = []
  })
  handleEvent('state', ({ snapshot, points }) => {
    addPoints(points)
    updateFromSnapshot(snapshot)
  })
  handleEvent('trial', ({ result, rows }) => {
    results.push(result)
    updateTrials(rows)
  })
  handleEvent('end', ({ snapshot }) => {
    source.close()
    updateFromSnapshot(snapshot)
    setTextById('connection', 'the run has ended: nothing more will come')
  })
}

/**
 * Adds points to the series, which are thinned as the server thins its own.
 * @param {SidecarSeries[]} points new ones, by sidecar
 */
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

/**
 * Updates the texts, progress and sidecars of a run, and the series of the trial.
 * @param {import('./state.js').RunSnapshot} snapshot
 */
function updateFromSnapshot(snapshot) {
  const { runId, experiment, question, phase, progress, done, trials, arm, outcomes, ending } = snapshot
  const trial = renderTrialPlace(snapshot)
  const status = phase ?? ending?.outcome
  const arms = arm === null ? null : [arm.name, renderArm(arm)].filter(Boolean).join(', ')
  setTextById('experiment', experiment ?? 'sidecar-bench')
  setTextById('question', question)
  setTextById('run', runId === null ? null : `run ${runId}`)
  setTextById('phase', status ?? 'between trials')
  setTextById('arm', arms)
  setTextById('so-far', snapshot.parts.map(part => `${renderPlace(part)}: ${renderValues(part)}.`).join(' '))
  setTextById('progress', [progress, trial].filter(Boolean).join(', ') || '–')
  setTextById('rate', renderNumber(snapshot.ratePerSecond))
  setTextById('failed', `${renderNumber(snapshot.failed)} in this trial, ${snapshot.failedInAll} in all`)
  setTextById('outcomes', `${outcomes.completed} completed, ${outcomes.failed} failed, ${outcomes.invalid} invalid`)
  document.title = [experiment, trial, status].filter(Boolean).join(', ') || 'sidecar-bench'

  progressBar.hidden = trials === null
  progressBar.max = Math.max(1, trials ?? 1)
  progressBar.value = Math.min(done, progressBar.max)
  progressBar.setAttribute('aria-valuetext', renderEnded({ done, trials }))

  left = snapshot.secondsLeft === null ? null : { seconds: snapshot.secondsLeft, sinceMs: performance.now() }
  updateTimeLeft()
  sidecarList.update(snapshot.sidecars)
  charts.drawSeries(series, [trial, arms].filter(Boolean).join(', '))
}

/**
 * Updates the charts of rounds and the table of trials.
 * @param {LiveRow[]} rows
 */
function updateTrials(rows) {
  charts.drawAllRounds(rows)
  trialTable.update(results, rows)
}

/** Updates the time left. A cluster sends no event during a window, so the page counts the time down by itself. */
function updateTimeLeft() {
  const seconds = left && Math.max(0, left.seconds - (performance.now() - left.sinceMs) / 1000)
  setTextById('left', renderTimeLeft(seconds) ?? '–')
}

/**
 * Sets the text of an element.
 * @param {string} id
 * @param {string | null} text null: empty
 */
function setTextById(id, text) {
  setText(findElement(id), text)
}
