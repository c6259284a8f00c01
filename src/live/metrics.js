import { Registry } from 'prom-client'
import { measureRound, QUANTITIES } from '../judge/quantities.js'
import { renderArmName } from '../model/arms.js'
import { declareMetrics } from './metric-definitions.js'
import { serveRequests } from './serve.js'

/**
 * Turns the events of a run into metrics for Prometheus.
 * @import { Arm, ProcessSpec, Reading, Sample, Trial, TrialRecord } from '../model/types.ts'
 * @import { Labels, Metrics } from './metric-definitions.js'
 * @import { Phase, RunEvent } from '../run/events.js'
 */

const SIDECAR_GAUGES = ['sidecar_cap_cores', 'sidecar_memory_anonymous_bytes', 'sidecar_memory_working_set_bytes']
/** @type {Phase[]} */
const PHASES = ['parity', 'starting', 'warm-up', 'window', 'tail', 'stopping']
/** @type {TrialRecord['outcome'][]} */
const OUTCOMES = ['completed', 'failed', 'invalid']

/** @typedef {ReturnType<typeof createTrialMetrics>} TrialMetrics */

/**
 * Serves the metrics of a run to Prometheus, at /metrics. Other paths are answered with 404, and other methods with 405.
 * @param {{ address: import('./address.js').LiveAddress }} options
 * @returns {Promise<{ url: string, publish: (event: RunEvent) => void, close: () => Promise<void> }>} url: of the metrics;
 *   publish: changes them by an event; close: cuts open connections
 * @throws {import('../lib/errors.js').BenchError} if nothing can be served there
 */
export async function startMetricsServer({ address }) {
  const metrics = createMetrics()
  const { url, close } = await serveRequests(address, async (request, response) => {
    const isMetricsPath = String(request.url).split('?')[0] === '/metrics'
    if (request.method !== 'GET' || !isMetricsPath) {
      response
        .writeHead(isMetricsPath ? 405 : 404, { 'content-type': 'text/plain' })
        .end('the metrics are at /metrics\n')
      return
    }
    const text = await metrics.text()
    response.writeHead(200, { 'content-type': metrics.contentType, 'cache-control': 'no-store' }).end(text)
  })
  return { url: `${url}metrics`, publish: metrics.apply, close }
}

/**
 * Creates the metrics of a run. Unknown values are absent, never 0; the gauges of a sidecar are removed with its trial.
 * @returns {{ apply: (event: RunEvent) => void, text: () => Promise<string>, contentType: string }} apply: changes the metrics
 *   by an event; text: all metrics in the text format of Prometheus
 */
export function createMetrics() {
  const registry = new Registry()
  const metrics = declareMetrics(registry)
  metrics.clear()
  /** The metrics of the trials in progress by the id of their arm: interleaved arms have theirs at once. @type {Map<string, TrialMetrics>} */
  const trials = new Map()
  /** @type {string | null} */
  let runId = null
  const clearTrials = () => {
    metrics.clear(SIDECAR_GAUGES)
    trials.clear()
  }
  return {
    apply(event) {
      switch (event.kind) {
        case 'planned':
          if (event.run.id !== runId) beginRun(metrics, event)
          runId = event.run.id
          // A plan can shrink in a run, when rates are left out.
          metrics.set('run_time_left_seconds', {}, event.seconds)
          metrics.set('rounds', {}, event.trials === null ? null : event.rounds)
          return metrics.set('trials_planned', {}, event.trials)
        case 'trial-started':
          // Interleaved arms run at once: their trials stay until one of the arms starts again.
          if (!event.trial.arm.load.isInterleaved || trials.has(event.trial.arm.id)) clearTrials()
          trials.set(event.trial.arm.id, createTrialMetrics(metrics, event.trial))
          metrics.set('round', {}, event.trial.round)
          return metrics.set('run_time_left_seconds', {}, event.secondsLeft)
        case 'phase':
          return setPhase(metrics, event.phase)
        case 'sampled':
          for (const trial of trials.values()) trial.sample(event)
          return
        case 'counted': {
          // Counts of interleaved arms are of all together: each gets its own from its record.
          const [trial, ...others] = trials.values()
          if (others.length === 0) trial?.count(event)
          return
        }
        case 'trial-ended':
          trials.get(event.record.trial.arm.id)?.end(event.record)
          trials.delete(event.record.trial.arm.id)
          if (trials.size === 0) clearTrials()
          metrics.add('trials_ended_total', { outcome: event.record.outcome }, 1)
          return setQuantities(metrics, event.record)
        case 'ended':
          clearTrials()
          setPhase(metrics, null)
          return metrics.set('run_time_left_seconds', {}, null)
      }
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

/**
 * Removes the gauges of the run before, and sets those of a new one. Counters go on from run to run.
 * @param {Metrics} metrics
 * @param {Extract<RunEvent, { kind: 'planned' }>} event
 */
function beginRun(metrics, { run, atMs }) {
  metrics.clear()
  metrics.set('run_info', { run: run.id, experiment: run.experiment }, 1)
  metrics.set('run_started_timestamp_seconds', {}, atMs / 1000)
  for (const outcome of OUTCOMES) metrics.add('trials_ended_total', { outcome }, 0)
  setPhase(metrics, null)
}

/**
 * Sets the gauge of the current phase to 1, and those of the others to 0.
 * @param {Metrics} metrics
 * @param {Phase | null} phase null: between trials, or at the end
 */
function setPhase(metrics, phase) {
  for (const each of PHASES) metrics.set('phase', { phase: each }, each === phase ? 1 : 0)
}

/**
 * Creates the functions that put the samples, counts and record of a trial into the metrics. The series of requests begin at once
 * if the trial has a load.
 * @param {Metrics} metrics are changed
 * @param {Trial} trial
 * @returns count: sets the requests so far; sample: adds a sample; end: adds the record
 */
function createTrialMetrics(metrics, { arm }) {
  const labels = createLabels(arm)
  /** By service: labels are made once, as samples come often. @type {Map<string, ReturnType<typeof createSidecarMetrics>>} */
  const sidecars = new Map()
  const updateRequests = metrics.createUpdater('requests_total', labels, 0)
  const updateFailed = metrics.createUpdater('requests_failed_total', labels, 0)
  let isCounted = false
  /** @param {{ requests: number, failed: number }} counts since the trial's generator started */
  const count = ({ requests, failed }) => {
    isCounted ||= requests > 0
    updateRequests(requests)
    updateFailed(failed)
  }
  if (arm.load.kind !== 'idle') count({ requests: 0, failed: 0 })
  return {
    count,
    /** @param {{ specs: ProcessSpec[], sample: Sample }} event */
    sample({ specs, sample: { readings } }) {
      for (const [i, spec] of specs.entries()) {
        const isOfArm = spec.armId === undefined || spec.armId === arm.id
        if (spec.role !== 'sidecar' || !isOfArm || !readings[i]) continue
        const { service } = spec
        const update = sidecars.get(service) ?? createSidecarMetrics(metrics, { ...labels, service }, spec)
        sidecars.set(service, update)
        update(readings[i])
      }
    },
    /**
     * Adds the requests of the window if none were counted live, as on a cluster.
     * @param {TrialRecord} record
     */
    end({ load }) {
      if (load && !isCounted) count({ requests: load.verified + load.failed, failed: load.failed })
    },
  }
}

/**
 * Sets the CPU limit of a sidecar, if it has one, and creates the function that puts its readings into the metrics. Counters rise by
 * the use after the first reading.
 * @param {Metrics} metrics
 * @param {Labels} labels
 * @param {ProcessSpec} spec
 * @returns {(reading: Reading) => void}
 */
function createSidecarMetrics(metrics, labels, { cpuLimitCores }) {
  metrics.set('sidecar_cap_cores', labels, cpuLimitCores)
  const updateCpu = metrics.createUpdater('sidecar_cpu_seconds_total', labels, Infinity)
  const updatePeriods = metrics.createUpdater('sidecar_periods_total', labels, Infinity)
  const updateThrottled = metrics.createUpdater('sidecar_throttled_periods_total', labels, Infinity)
  return (/** @type {Reading} */ { cpuSeconds, periods, throttledPeriods, anonBytes, workingSetBytes }) => {
    updateCpu(cpuSeconds)
    updatePeriods(periods)
    updateThrottled(throttledPeriods)
    // A value that could not be read leaves the gauge as it is.
    if (Number.isFinite(anonBytes)) metrics.set('sidecar_memory_anonymous_bytes', labels, anonBytes)
    if (Number.isFinite(workingSetBytes)) metrics.set('sidecar_memory_working_set_bytes', labels, workingSetBytes)
  }
}

/**
 * Sets the gauges of an arm to the quantities of its last trial. The gauge of a quantity that has no value, or that a gate spoiled,
 * is removed; an idle trial changes none.
 * @param {Metrics} metrics
 * @param {TrialRecord} record
 */
function setQuantities(metrics, record) {
  const { arm } = record.trial
  if (arm.load.kind === 'idle') return
  const labels = createLabels(arm)
  for (const row of Object.values(QUANTITIES)) {
    if (!row.metric) continue
    const { name, scale = 1, percentile } = row.metric
    const value = measureRound(row, [record])
    const rowLabels = percentile ? { ...labels, loop: arm.load.kind, percentile } : labels
    metrics.set(name, rowLabels, value === null ? null : value / scale)
  }
}

/**
 * Creates the labels of an arm.
 * @param {Arm} arm
 * @returns {Labels} without `rate` if its load has none
 */
function createLabels(arm) {
  const rate = arm.load.ratePerSecond
  const armLabels = { plane: renderArmName(arm), link: arm.link, cap_cores: String(arm.cpuLimitCores ?? 'none') }
  return { ...armLabels, ...(rate === undefined ? {} : { rate: String(rate) }), arm: arm.id }
}
