import { Counter, Gauge, Registry } from 'prom-client'
import { nameOf } from '../arms.js'
import { cpuPerRequestMicros, QUANTILES, quantileMs, ratePerSecond, sidecarsOf, valueOfRound } from '../measures.js'

/**
 * A running benchmark as metrics for Prometheus: their definitions, and below them what each event does to them.
 * @import { Arm, ProcessSpec, Reading, Sample, Trial, TrialRecord } from '../types.ts'
 * @import { Phase, RunEvent } from './state.js'
 */

const PREFIX = 'sidecar_bench_'
/** @type {Phase[]} */
const PHASES = ['parity', 'starting', 'warm-up', 'window', 'tail', 'stopping']
/** @type {TrialRecord['outcome'][]} */
const OUTCOMES = ['completed', 'failed', 'invalid']

// Arms can differ in what no other label says (payload, protocol, workers, …): `arm` tells them apart.
const ARM = ['plane', 'link', 'cap_cores', 'rate', 'arm']
const SIDECAR = [...ARM, 'service']
const LAST = 'of the last trial of the arm that ended; absent where it failed or a gate spoiled it'
const SAMPLED = 'while it is sampled (warm-up and window); on a cluster a window is added when it ends'

/** Labels and definition of each. @satisfies {Definitions} */
const GAUGES = {
  run_info: [['run', 'experiment'], 'The run that this endpoint tells of, always 1.'],
  run_started_timestamp_seconds: [[], 'When the run started, in seconds since the epoch.'],
  run_time_left_seconds: [
    [],
    'Estimated time until the run ends, as of when it was planned or its last trial started.',
  ],
  phase: [['phase'], 'Whether the run is in this phase, 0 or 1: at most one is 1, and none once the run has ended.'],
  round: [[], 'The round that runs; in a search, the how many-th trial of its arm.'],
  rounds: [[], 'Planned rounds; absent in a search, which has none.'],
  trials_planned: [[], 'Planned trials, without those that are measured again; absent in a search.'],
  sidecar_cap_cores: [SIDECAR, 'CPU cap of a sidecar that runs, in cores; absent where it has none.'],
  sidecar_memory_anonymous_bytes: [SIDECAR, 'Anonymous memory of the cgroup of a sidecar that runs.'],
  sidecar_memory_working_set_bytes: [SIDECAR, 'Working set of the cgroup of a sidecar that runs.'],
  trial_throughput_requests_per_second: [ARM, `Verified requests in the window over its length, ${LAST}.`],
  trial_cpu_seconds_per_request: [ARM, `CPU time of all sidecars over verified requests in the window, ${LAST}.`],
  trial_response_time_seconds: [
    [...ARM, 'loop', 'percentile'],
    `Response time of verified requests in the window, ${LAST}. loop="open": latency at the rate. loop="closed": at saturation, where it follows from throughput and users, and is no latency.`,
  ],
}
/** @satisfies {Definitions} */
const COUNTERS = {
  trials_ended_total: [['outcome'], 'Trials that ended, those that were measured again too.'],
  sidecar_cpu_seconds_total: [SIDECAR, `CPU time of the cgroup of a sidecar ${SAMPLED}; goes on over trials.`],
  sidecar_periods_total: [SIDECAR, `Scheduler periods (100 ms) in which a sidecar with a cap ran, ${SAMPLED}.`],
  sidecar_throttled_periods_total: [SIDECAR, `Periods in which a sidecar was stopped by its cap, ${SAMPLED}.`],
  requests_total: [
    ARM,
    'Requests of the load, failed ones too; where they are not counted live, those of the window when the trial ends.',
  ],
  requests_failed_total: [ARM, 'Requests of the load that failed, counted as all requests are.'],
}

/**
 * Keeps what events tell, as metrics. Values that are not known are absent, never 0; the gauges of a sidecar go with
 * its trial.
 * @returns {{ apply: (event: RunEvent) => void, text: () => Promise<string>, contentType: string }}
 *   text: all metrics in the text format of Prometheus
 */
export function createMetrics() {
  const registry = new Registry()
  const metrics = declare(registry)
  metrics.clear()
  /** @type {ReturnType<typeof followTrial> | null} */
  let running = null
  /** @type {string | null} */
  let runId = null
  const stop = () => {
    running?.stop()
    running = null
  }
  return {
    apply(event) {
      switch (event.kind) {
        case 'planned':
          if (event.run.id !== runId) describeRun(metrics, event)
          runId = event.run.id
          return describePlan(metrics, event)
        case 'trial-started':
          stop()
          running = followTrial(metrics, event.trial)
          metrics.set('round', {}, event.trial.round)
          return metrics.set('run_time_left_seconds', {}, event.secondsLeft)
        case 'phase':
          return setPhase(metrics, event.phase)
        case 'sampled':
          return running?.sample(event)
        case 'counted':
          return running?.count(event)
        case 'trial-ended':
          running?.end(event.record)
          stop()
          metrics.add('trials_ended_total', { outcome: event.record.outcome }, 1)
          return describeRecord(metrics, event.record)
        case 'ended':
          stop()
          setPhase(metrics, null)
          return metrics.set('run_time_left_seconds', {}, null)
      }
    },
    text: () => registry.metrics(),
    contentType: registry.contentType,
  }
}

/** @typedef {ReturnType<typeof declare>} Metrics */
/** @typedef {Record<string, string>} Labels */
/** @typedef {Record<string, [string[], string]>} Definitions */

/** @param {Registry} registry */
function declare(registry) {
  /** @type {<Name extends string, Metric>(Kind: new (options: any) => Metric, of: Record<Name, [string[], string]>) => Record<Name, Metric>} */
  const make = (Kind, definitions) => {
    const made = Object.entries(definitions).map(([name, [labelNames, help]]) => {
      return [name, new Kind({ name: PREFIX + name, help, labelNames, registers: [registry] })]
    })
    return Object.fromEntries(made)
  }
  const gauges = make(Gauge, GAUGES)
  const counters = make(Counter, COUNTERS)
  return {
    /** @type {(name: keyof typeof GAUGES, labels: Labels, value: number | null) => void} null, NaN: takes it away */
    set(name, labels, value) {
      if (isNumber(value)) gauges[name].set(labels, value)
      else gauges[name].remove(labels)
    },
    clear() {
      for (const gauge of Object.values(gauges)) {
        gauge.reset()
        // One without labels is 0 after a reset, as when it is made.
        gauge.remove({})
      }
    },
    /** @type {(name: keyof typeof COUNTERS, labels: Labels, value: number) => void} */
    add: (name, labels, value) => counters[name].inc(labels, value),
    /**
     * A counter that rises by what a reading is more than the one before; one that cannot be read adds nothing.
     * @type {(name: keyof typeof COUNTERS, labels: Labels, from: number) => (reading: number | null) => void}
     *   from: Infinity where the first reading only begins
     */
    follow(name, labels, from) {
      let last = from
      return reading => {
        if (!isNumber(reading)) return
        // Also 0, so that the series is there before it rises.
        counters[name].inc(labels, reading > last ? reading - last : 0)
        last = reading
      }
    },
  }
}

/** @type {(value: number | null) => value is number} */
const isNumber = value => Number.isFinite(value)

/**
 * @param {Metrics} metrics
 * @param {Extract<RunEvent, { kind: 'planned' }>} event
 */
function describeRun(metrics, { run, atMs }) {
  metrics.clear()
  metrics.set('run_info', { run: run.id, experiment: run.experiment }, 1)
  metrics.set('run_started_timestamp_seconds', {}, atMs / 1000)
  for (const outcome of OUTCOMES) metrics.add('trials_ended_total', { outcome }, 0)
  setPhase(metrics, null)
}

/**
 * What can change in a run, when rates are left out.
 * @param {Metrics} metrics
 * @param {Extract<RunEvent, { kind: 'planned' }>} event
 */
function describePlan(metrics, { rounds, trials, seconds }) {
  metrics.set('run_time_left_seconds', {}, seconds)
  metrics.set('rounds', {}, trials === null ? null : rounds)
  metrics.set('trials_planned', {}, trials)
}

/**
 * @param {Metrics} metrics
 * @param {Phase | null} phase
 */
function setPhase(metrics, phase) {
  for (const each of PHASES) metrics.set('phase', { phase: each }, each === phase ? 1 : 0)
}

/**
 * @param {Metrics} metrics
 * @param {Trial} trial
 */
function followTrial(metrics, { arm }) {
  const labels = labelsOf(arm)
  // By service; labels and all are made once, since samples come ten times a second.
  /** @type {Map<string, ReturnType<typeof followSidecar>>} */
  const sidecars = new Map()
  const addRequests = metrics.follow('requests_total', labels, 0)
  const addFailed = metrics.follow('requests_failed_total', labels, 0)
  let isCounted = false
  /** @param {{ requests: number, failed: number }} counted since the trial's generator started */
  const count = ({ requests, failed }) => {
    isCounted ||= requests > 0
    addRequests(requests)
    addFailed(failed)
  }
  if (arm.load.kind !== 'idle') count({ requests: 0, failed: 0 })
  return {
    count,
    /** @param {{ specs: ProcessSpec[], sample: Sample }} event */
    sample({ specs, sample: { readings } }) {
      for (const [i, spec] of specs.entries()) {
        if (spec.role !== 'sidecar' || !readings[i]) continue
        const { service } = spec
        if (!sidecars.has(service)) sidecars.set(service, followSidecar(metrics, { ...labels, service }, spec))
        sidecars.get(service)?.read(readings[i])
      }
    },
    /** @param {TrialRecord} record */
    end({ load }) {
      if (load && !isCounted) count({ requests: load.verified + load.failed, failed: load.failed })
    },
    stop() {
      for (const { stop } of sidecars.values()) stop()
    },
  }
}

/**
 * @param {Metrics} metrics
 * @param {Labels} labels
 * @param {ProcessSpec} spec
 */
function followSidecar(metrics, labels, { cpuCores }) {
  metrics.set('sidecar_cap_cores', labels, cpuCores)
  const addCpu = metrics.follow('sidecar_cpu_seconds_total', labels, Infinity)
  const addPeriods = metrics.follow('sidecar_periods_total', labels, Infinity)
  const addThrottled = metrics.follow('sidecar_throttled_periods_total', labels, Infinity)
  return {
    /** @param {Reading} reading */
    read({ cpuSeconds, periods, throttledPeriods, anonBytes, workingSetBytes }) {
      addCpu(cpuSeconds)
      addPeriods(periods)
      addThrottled(throttledPeriods)
      // What could not be read this time is as it was.
      if (isNumber(anonBytes)) metrics.set('sidecar_memory_anonymous_bytes', labels, anonBytes)
      if (isNumber(workingSetBytes)) metrics.set('sidecar_memory_working_set_bytes', labels, workingSetBytes)
    },
    stop() {
      metrics.set('sidecar_cap_cores', labels, null)
      metrics.set('sidecar_memory_anonymous_bytes', labels, null)
      metrics.set('sidecar_memory_working_set_bytes', labels, null)
    },
  }
}

/**
 * What the report takes from a trial, as far as one trial says it.
 * @param {Metrics} metrics
 * @param {TrialRecord} record
 */
function describeRecord(metrics, record) {
  const { arm } = record.trial
  if (arm.load.kind === 'idle') return
  const labels = labelsOf(arm)
  const loop = arm.load.kind
  const cpuPerRequest = valueOfRound([record], 'cpuPerRequest', r => cpuPerRequestMicros(r, sidecarsOf(r)))
  metrics.set('trial_throughput_requests_per_second', labels, valueOfRound([record], 'throughput', ratePerSecond))
  metrics.set('trial_cpu_seconds_per_request', labels, cpuPerRequest === null ? null : cpuPerRequest / 1e6)
  for (const q of Object.values(QUANTILES)) {
    const ms = valueOfRound([record], loop === 'open' ? 'latency' : 'throughput', r => quantileMs(r, q))
    const own = { ...labels, loop, percentile: String(Number((100 * q).toFixed(3))) }
    metrics.set('trial_response_time_seconds', own, ms === null ? null : ms / 1000)
  }
}

/**
 * @param {Arm} arm
 * @returns {Labels}
 */
function labelsOf(arm) {
  const { ratePerSecond: rate } = arm.load
  return {
    ...{ plane: nameOf(arm), link: arm.link, cap_cores: String(arm.capCores ?? 'none') },
    ...(rate === undefined ? {} : { rate: String(rate) }),
    arm: arm.id,
  }
}
