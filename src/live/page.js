import { appendPoint, appendStretch } from '../lib/bounded.js'
import { createCharts } from './page-charts.js'
import { findElement, setText } from './page-elements.js'
import { createSidecarList, createTrialTable } from './page-lists.js'
import {
  renderArmAxes,
  renderEndedCount,
  renderNumber,
  renderPartPlace,
  renderPartValues,
  renderTimeLeft,
  renderTrialPlace,
} from './words.js'

/**
 * The page of a run: draws the server-sent events that stream.js defines. Runs in browsers.
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
let timeLeft = null

findElement('live').hidden = false
followEvents()
setInterval(updateTimeLeft, 1000)

/** Updates the page by the events of the server until the run ends. The browser reconnects by itself unless it closed the source. */
function followEvents() {
  const source = new EventSource('/events')
  const addHandler = (/** @type {string} */ name, /** @type {(event: any) => void} */ handle) =>
    source.addEventListener(name, event => handle(JSON.parse(event.data)))
  source.addEventListener('open', () => setTextById('connection', ''))
  source.addEventListener('error', () => {
    const isOver = source.readyState === EventSource.CLOSED
    setTextById('connection', isOver ? 'connection lost: load the page again' : 'connection lost, trying again')
  })
  addHandler('reset', event => {
    results = event.results
    series = event.series
    charts.clearSeries()
    updateFromSnapshot(event.snapshot)
    updateTrials(event.rows)
  })
  addHandler('new-trial', () => {
    series = []
  })
  addHandler('state', ({ snapshot, points }) => {
    addPoints(points)
    updateFromSnapshot(snapshot)
  })
  addHandler('trial', ({ result, rows }) => {
    results.push(result)
    updateTrials(rows)
  })
  addHandler('end', ({ snapshot }) => {
    source.close()
    updateFromSnapshot(snapshot)
    setTextById('connection', 'the run has ended: nothing more will come')
  })
}

/**
 * Adds points to `series`, by sidecar; they are thinned as the server thins its own. A sidecar without a series gets one.
 * @param {SidecarSeries[]} additions each has the new points of a sidecar
 */
function addPoints(additions) {
  for (const addition of additions) {
    let sidecar = series.find(({ service }) => service === addition.service)
    if (sidecar === undefined) {
      sidecar = { ...addition, cores: [], anonBytes: [], throttled: [] }
      series.push(sidecar)
    }
    for (const point of addition.cores) appendPoint(sidecar.cores, point)
    for (const point of addition.anonBytes) appendPoint(sidecar.anonBytes, point)
    for (const stretch of addition.throttled) appendStretch(sidecar.throttled, stretch)
  }
}

/**
 * Updates the title, texts, progress, time left and sidecars of a run, and the chart of the trial's series.
 * @param {import('./state.js').RunSnapshot} snapshot
 */
function updateFromSnapshot(snapshot) {
  const { runId, experiment, question, phase, progress, done, trials, arm, outcomes, ending } = snapshot
  const trial = renderTrialPlace(snapshot)
  const status = phase ?? ending?.outcome
  const armText = arm === null ? null : [arm.name, renderArmAxes(arm)].filter(Boolean).join(', ')
  setTextById('experiment', experiment ?? 'sidecar-bench')
  setTextById('question', question)
  setTextById('run', runId === null ? null : `run ${runId}`)
  setTextById('phase', status ?? 'between trials')
  setTextById('arm', armText)
  setTextById('so-far', snapshot.parts.map(part => `${renderPartPlace(part)}: ${renderPartValues(part)}.`).join(' '))
  setTextById('progress', [progress, trial].filter(Boolean).join(', ') || '–')
  setTextById('rate', renderNumber(snapshot.ratePerSecond))
  setTextById('failed', `${renderNumber(snapshot.failed)} in this trial, ${snapshot.failedInAll} in all`)
  setTextById('outcomes', `${outcomes.completed} completed, ${outcomes.failed} failed, ${outcomes.invalid} invalid`)
  document.title = [experiment, trial, status].filter(Boolean).join(', ') || 'sidecar-bench'

  progressBar.hidden = trials === null
  progressBar.max = Math.max(1, trials ?? 1)
  progressBar.value = Math.min(done, progressBar.max)
  progressBar.setAttribute('aria-valuetext', renderEndedCount({ done, trials }))

  timeLeft = snapshot.secondsLeft === null ? null : { seconds: snapshot.secondsLeft, sinceMs: performance.now() }
  updateTimeLeft()
  sidecarList.update(snapshot.sidecars)
  charts.drawSeries(series, [trial, armText].filter(Boolean).join(', '))
}

/**
 * Updates the charts of rounds, and the table of trials from `results`.
 * @param {LiveRow[]} rows the arms over the rounds so far
 */
function updateTrials(rows) {
  charts.drawAllRounds(rows)
  trialTable.update(results, rows)
}

/**
 * Updates the text of the time left: `–` if it is not known. A cluster sends no event during a window, so the page counts the time
 * down by itself.
 */
function updateTimeLeft() {
  const seconds = timeLeft && Math.max(0, timeLeft.seconds - (performance.now() - timeLeft.sinceMs) / 1000)
  setTextById('left', renderTimeLeft(seconds) ?? '–')
}

/**
 * Sets the text of an element.
 * @param {string} id
 * @param {string | null} text null: empty
 * @throws {Error} if page.html lacks the element
 */
function setTextById(id, text) {
  setText(findElement(id), text)
}
