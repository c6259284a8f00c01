import { Counter, Gauge } from 'prom-client'
import { QUANTITIES } from '../judge/quantities.js'

/**
 * The metrics of a run: names, labels and definitions, and how each takes a value.
 * @typedef {ReturnType<typeof declareMetrics>} Metrics
 * @typedef {Record<string, string>} Labels
 * @typedef {Record<string, [string[], string]>} Definitions labels and definition by name
 */

const PREFIX = 'sidecar_bench_'

// Only the label `arm` differs between arms that differ in payload, protocol, workers or another axis without a label.
const ARM = ['plane', 'link', 'cap_cores', 'rate', 'arm']
const SIDECAR = [...ARM, 'service']
const LAST_TRIAL = 'Of the last trial of the arm that ended; absent where it failed or a gate spoiled it.'
const SAMPLED_TIME = 'while it is sampled (warm-up and window); on a cluster a window is added when it ends'

/** @satisfies {Definitions} */
const GAUGES = {
  run_info: [['run', 'experiment'], 'The run that this endpoint tells of, always 1.'],
  run_started_timestamp_seconds: [[], 'When the run started, in seconds since the epoch.'],
  run_time_left_seconds: [
    [],
    'Estimated time until the run ends, as of when it was planned or its last trial started.',
  ],
  phase: [['phase'], 'Whether the run is in this phase, 0 or 1: at most one is 1, and none once the run has ended.'],
  round: [[], 'The round that runs; in a search, which trial of its arm this is.'],
  rounds: [[], 'Planned rounds; absent in a search, which has none.'],
  trials_planned: [[], 'Planned trials, without those that are measured again; absent in a search.'],
  sidecar_cap_cores: [SIDECAR, 'CPU cap of a sidecar that runs, in cores; absent where it has none.'],
  sidecar_memory_anonymous_bytes: [SIDECAR, 'Anonymous memory of the cgroup of a sidecar that runs.'],
  sidecar_memory_working_set_bytes: [SIDECAR, 'Working set of the cgroup of a sidecar that runs.'],
}
/** Gauges of the quantities of a trial. @type {Definitions} */
const QUANTITY_GAUGES = {}
for (const { metric, definition } of Object.values(QUANTITIES)) {
  if (!metric) continue
  const labels = metric.percentile ? [...ARM, 'loop', 'percentile'] : ARM
  QUANTITY_GAUGES[metric.name] = [labels, `${metric.definition ?? definition} ${LAST_TRIAL}`]
}
/** @satisfies {Definitions} */
const COUNTERS = {
  trials_ended_total: [['outcome'], 'Trials that ended, those that were measured again too.'],
  sidecar_cpu_seconds_total: [SIDECAR, `CPU time of the cgroup of a sidecar ${SAMPLED_TIME}; goes on over trials.`],
  sidecar_periods_total: [SIDECAR, `Scheduler periods (100 ms) in which a sidecar with a cap ran, ${SAMPLED_TIME}.`],
  sidecar_throttled_periods_total: [SIDECAR, `Periods in which a sidecar was stopped by its cap, ${SAMPLED_TIME}.`],
  requests_total: [
    ARM,
    'Requests of the load, failed ones too; where they are not counted live, those of the window when the trial ends.',
  ],
  requests_failed_total: [ARM, 'Requests of the load that failed, counted as all requests are.'],
}

/**
 * Declares the metrics of a run in a registry.
 * @param {import('prom-client').Registry} registry that does not have them yet
 * @returns set: sets a gauge; clear: removes the series of gauges; add: adds to a counter; createUpdater: creates a function that
 *   raises a counter to a reading; all by the metric's name, without its prefix
 */
export function declareMetrics(registry) {
  /** @type {<Name extends string, Metric>(Kind: new (options: any) => Metric, definitions: Record<Name, Definitions[string]>) => Record<Name, Metric>} */
  const registerMetrics = (Kind, definitions) => {
    const entries = Object.entries(definitions).map(([name, [labelNames, help]]) => {
      return [name, new Kind({ name: PREFIX + name, help, labelNames, registers: [registry] })]
    })
    return Object.fromEntries(entries)
  }
  /** @type {Record<string, Gauge>} */
  const gauges = registerMetrics(Gauge, { ...GAUGES, ...QUANTITY_GAUGES })
  const counters = registerMetrics(Counter, COUNTERS)
  return {
    /** Sets a gauge. null and NaN remove its series. @type {(name: string, labels: Labels, value: number | null) => void} */
    set(name, labels, value) {
      if (isFiniteNumber(value)) gauges[name].set(labels, value)
      else gauges[name].remove(labels)
    },
    /** Removes the series of gauges, by default of all. */
    clear(names = Object.keys(gauges)) {
      for (const name of names) {
        gauges[name].reset()
        // A gauge without labels is 0 after a reset.
        gauges[name].remove({})
      }
    },
    /** @type {(name: keyof typeof COUNTERS, labels: Labels, value: number) => void} */
    add: (name, labels, value) => counters[name].inc(labels, value),
    /**
     * Creates a function that raises a counter by the rise of a reading. One that fell, or could not be read (null, NaN), adds
     * nothing.
     * @type {(name: keyof typeof COUNTERS, labels: Labels, from: number) => (reading: number | null) => void}
     *   from: the reading to count from; Infinity: that is the first, which adds nothing
     */
    createUpdater(name, labels, from) {
      let lastReading = from
      return reading => {
        if (!isFiniteNumber(reading)) return
        // Adding 0 makes the series appear before it rises.
        counters[name].inc(labels, reading > lastReading ? reading - lastReading : 0)
        lastReading = reading
      }
    },
  }
}

/**
 * Says whether a value is a finite number.
 * @param {number | null} value
 * @returns {value is number}
 */
const isFiniteNumber = value => Number.isFinite(value)
