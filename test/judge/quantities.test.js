import { afterEach, describe, expect, it } from 'vitest'
import { summarise } from '../../src/analysis/summarise.js'
import { findQuantity, formatValue, measureRound, QUANTITIES } from '../../src/judge/quantities.js'
import { listArms } from '../../src/model/results.js'
import { tabulatePivots } from '../../src/report/arms-table.js'
import { renderArmsCsv } from '../../src/report/csv.js'
import { tabulateDictionary } from '../../src/report/dictionary.js'
import { createVerdictBlocks } from '../../src/report/verdicts.js'
import { createManifest } from '../fakes/fake-manifest.js'
import { createArm, createFakeProcess, createRecord } from '../fakes/fake-records.js'

/** @import { Arm, Change, GateFinding, LoadResult, ProcessRecord, Shows, TrialRecord } from '../../src/model/types.ts' */

const MIB = 2 ** 20
const PIPY = createArm({ id: 'pipy', plane: 'pipy' })
const SHOWS = { quantities: ['throughput'], across: null, contrasts: [], hasCpuLine: false, hasSlopes: false }

/**
 * @param {{ arms?: Arm[], records: TrialRecord[], rounds: number, shows?: Partial<Shows>, thresholds?: string[] }} run
 */
const summariseRun = ({ arms = [PIPY], records, rounds, shows = {}, thresholds = [] }) =>
  summarise({
    manifest: createManifest({ rounds, arms, thresholds, settings: { shows: { ...SHOWS, ...shows } } }),
    records,
  })

/** @param {Partial<Omit<ProcessRecord, 'memory'>> & { memory?: Partial<ProcessRecord['memory']> }} fields */
const sidecar = ({ memory, ...fields }) => {
  const process = createFakeProcess(fields)
  return { ...process, memory: { ...process.memory, ...memory } }
}
/** Rounds of an arm with these sidecars each. @param {ProcessRecord[][]} rounds */
const armOf = rounds => {
  const records = rounds.map((processes, i) => createRecord({ arm: PIPY, round: i + 1, processes }))
  return listArms(summariseRun({ records, rounds: rounds.length }))[0]
}

describe('quantities of an arm', () => {
  it('add memory and CPU up over sidecars, round by round: the median of the sums', () => {
    const arm = armOf(
      [
        [0.1, 1, 0.5, 8],
        [0.2, 2, 0.1, 1],
        [0.6, 9, 0.1, 1],
      ].map(([cores, rss, others, othersRss]) => [
        sidecar({ cpuCores: cores, memory: { rssBytes: rss * MIB } }),
        sidecar({ service: 'ratings', cpuCores: others, memory: { rssBytes: othersRss * MIB } }),
      ]),
    )
    // The medians of the parts are 2 and 1 MiB; the sums are 9, 3 and 10.
    expect(findQuantity(arm, 'rss')).toMatchObject({ median: 9 * MIB, values: [9 * MIB, 3 * MIB, 10 * MIB] })
    expect(findQuantity(arm, 'cpuCores').values).toEqual([0.6, 0.3, 0.7].map(v => expect.closeTo(v, 9)))
    expect(findQuantity(arm, 'rss', 'ratings').median).toBe(MIB)
    expect(findQuantity(arm, 'rss', 'nobody').median).toBeNull()
  })

  it('have no sum of a round in which a sidecar has no value', () => {
    const arm = armOf(
      [3, null].map(anonBytes => [
        sidecar({ memory: { anonBytes: 1 } }),
        sidecar({ service: 'ratings', memory: { anonBytes } }),
      ]),
    )
    expect(findQuantity(arm, 'anon').values).toEqual([4, null])
  })

  it('take the share of the cap and throttling of the sidecar with the most', () => {
    const arm = armOf([
      [0.125, 0.2].map((cpuCores, i) =>
        sidecar({ service: `s${i}`, cpuCores, throttledFraction: i === 0 ? null : cpuCores }),
      ),
    ])
    expect([findQuantity(arm, 'cpuOfCap').median, findQuantity(arm, 'throttled').median]).toEqual([0.8, 0.2])
    expect(findQuantity(arm, 'cpuOfCap', 's0').median).toBe(0.5)
  })

  it('take CPU per request of the arm, or of one sidecar', () => {
    const arm = armOf([[0.1, 0.2].map((cpuCores, i) => sidecar({ service: `s${i}`, cpuCores }))])
    expect(findQuantity(arm, 'cpuPerRequest').median).toBeCloseTo(300, 9)
    expect(findQuantity(arm, 'cpuPerRequest', 's0').median).toBeCloseTo(100, 9)
  })

  it('take CPU per request over those to a loud pair, too, which no time is of', () => {
    const loud = { due: 2100, verified: 2000, failed: 50, failures: [], quiet: [1000] }
    const record = createRecord({ arm: PIPY, processes: [sidecar({ cpuCores: 0.3 })], load: { loud } })
    const [arm] = listArms(summariseRun({ records: [record], rounds: 1 }))
    expect(findQuantity(arm, 'cpuPerRequest').median).toBeCloseTo(100, 9)
    expect(findQuantity(arm, 'throughput').median).toBe(1000)
    expect(findQuantity(arm, 'loudThroughput').median).toBe(2000)
    expect(findQuantity(arm, 'loudFailed').median).toBeCloseTo(50 / 2050, 9)
  })

  it('have no value if an arm has no sidecars', () => {
    const records = [
      createRecord({ arm: { ...PIPY, plane: 'none', hasSidecars: false, cpuLimitCores: null }, processes: [] }),
    ]
    const [arm] = listArms(summariseRun({ arms: [records[0].trial.arm], records, rounds: 1 }))
    const known = Object.keys(QUANTITIES).filter(name => findQuantity(arm, name).median !== null)
    expect(known).not.toContain('cpuPerRequest')
    expect(known.filter(name => QUANTITIES[name].sidecars)).toEqual([])
  })

  it.each([
    ['throughput', 1234.5, 'requests/s', '1235'],
    ['cpuCores', 0.12345, 'CPU cores', '0.123'],
    ['cpuCores', 0.00034, 'CPU cores', '0.0003'],
    ['cpuOfCap', 0.954, 'CPU of cap', '95 %'],
    ['p999', 12.34, 'p99.9 ms', '12.3'],
    ['addedP99', 0.123, 'added p99 ms', '0.12'],
    ['rss', 12.25 * MIB, 'RSS MiB', '12.3'],
    ['startSeconds', 0.456, 'first answer after s', '0.46'],
  ])('are shown with their unit: %s', (name, value, label, text) => {
    expect([QUANTITIES[name].label, formatValue(QUANTITIES[name], value)]).toEqual([label, text])
  })
})

describe('quantities of changes', () => {
  /**
   * A window of 20 s of two sidecars.
   * @param {{ effects?: (number | null)[] | null, failed?: number, cores?: number, gates?: GateFinding[] }} fields
   */
  const trial = ({ effects = null, failed = 0, cores = 0.1, gates = [] }) =>
    createRecord({
      window: { startMs: 0, endMs: 20_000, seconds: 20, startLateMs: 0, endLateMs: 0 },
      load: { failed },
      gates,
      changes: effects?.map((effectSeconds, i) => /** @type {Change} */ ({ atSeconds: i, effectSeconds })) ?? null,
      processes: [
        createFakeProcess({ cpuCores: cores }),
        createFakeProcess({ service: 'ratings', cpuCores: 0.1 }),
        createFakeProcess({ role: 'application', cpuCores: 1 }),
      ],
    })
  /** @type {GateFinding[]} */
  const SPOILED = [{ gate: 'clock', spoils: ['memory'], reason: 'apart' }]
  /** @param {string} name @param {TrialRecord[]} trials @param {TrialRecord[]} [unchanged] */
  const measure = (name, trials, unchanged) => measureRound(QUANTITIES[name], trials, { unchanged })

  it('are the median and the longest time to effect', () => {
    expect(measure('effectMs', [trial({ effects: [0.3, 0.1, 0.2] })])).toBe(200)
    expect(measure('effectMostMs', [trial({ effects: [0.3, 0.1, 0.2] })])).toBe(300)
  })

  it('are no time of a trial in which a change took no effect, and the rest of it', () => {
    const trials = [trial({ effects: [0.1, null], failed: 3 })]
    expect([measure('effectMs', trials), measure('effectMostMs', trials)]).toEqual([null, null])
    expect(measure('failedPerChange', trials)).toBe(1.5)
  })

  it('are the CPU of all sidecars beyond that without changes, a change', () => {
    // 50 millicores more for 20 s: 1000 ms over two changes.
    const changed = [trial({ effects: [0.1, 0.1], cores: 0.15 })]
    expect(measure('cpuMillisPerChange', changed, [trial({})])).toBeCloseTo(500, 9)
    expect(measure('cpuMillisPerChange', changed, [trial({ gates: SPOILED })])).toBeNull()
    expect(measure('cpuMillisPerChange', changed)).toBeNull()
  })

  it('leave out spoiled trials, and take the one that was run again', () => {
    expect(measure('effectMs', [trial({ effects: [9], gates: SPOILED }), trial({ effects: [0.1] })])).toBe(100)
  })

  const names = ['effectMs', 'effectMostMs', 'failedPerChange', 'cpuMillisPerChange']
  it.each(names)('have no value without changes: %s', name => {
    for (const trials of [[trial({})], [trial({ effects: [] })], []])
      expect(measure(name, trials, [trial({})])).toBeNull()
  })
})

it('the CPU of a new connection is what a request over one takes beyond a request over a kept one', () => {
  const sidecar = (/** @type {number} */ cpuCores) => ({ processes: [createFakeProcess({ cpuCores })] })
  const arms = /** @type {const} */ (['kept', 'new']).map(connections =>
    createArm({ id: connections, load: { connections } }),
  )
  const records = arms.flatMap(arm =>
    [1, 2].map(round => createRecord({ arm, round, ...sidecar(arm.id === 'new' ? 0.4 + 0.1 * round : 0.1) })),
  )
  const [kept, fresh] = listArms(summarise({ manifest: createManifest({ arms, rounds: 2 }), records }))
  expect(fresh.cpuPerConnectionMicros?.values).toEqual([400, 500].map(micros => expect.closeTo(micros, 6)))
  expect(kept.cpuPerConnectionMicros).toBeUndefined()
  const { measure } = QUANTITIES.cpuPerConnection
  expect(measure({ record: records[2], kept: [] })).toBeNull()
})

it('the bytes of a new connection are those of a request over one beyond those of a request over a kept one', () => {
  const carrying = (/** @type {'kept' | 'new'} */ connections, /** @type {LoadResult['wire']} */ wire) => {
    const record = createRecord({ arm: createArm({ id: connections, load: { connections } }) })
    return { ...record, load: { ...record.load, wire } }
  }
  const kept = carrying('kept', { sentBytes: 120_000, receivedBytes: 140_000, requests: 100 })
  const fresh = carrying('new', { sentBytes: 150_000, receivedBytes: 170_000, requests: 50 })
  const { measure } = QUANTITIES.bytesPerConnection
  expect(measure({ record: fresh, kept: [kept] })).toBe(6400 - 2600)
  expect(measure({ record: kept, kept: [kept] })).toBeNull()
  // A result of wrk, or of an older kit.
  expect(measure({ record: carrying('new', undefined), kept: [kept] })).toBeNull()
})

describe('a row of the table', () => {
  afterEach(() => {
    delete QUANTITIES.threads
  })

  it('is all that a new quantity takes: it is compared, held to thresholds, shown, exported and defined', () => {
    QUANTITIES.threads = {
      ...{ name: 'threads', header: 'threads', label: 'threads of sidecars', unit: 'threads', digits: 0 },
      ...{ definition: 'How many threads the sidecars have.', use: 'memory', sidecars: 'sum' },
      measure: ({ record, service }) =>
        record.processes.filter(p => !service || p.service === service).reduce((sum, p) => sum + p.threads.length, 0),
      compared: { kinds: ['closed'], label: 'threads', less: 'has % fewer threads', more: 'has % more threads' },
    }
    const ENVOY = createArm({ id: 'envoy', plane: 'envoy' })
    const threadsOf = (/** @type {number} */ count) =>
      Array.from({ length: count }, (_, id) => ({ id, name: 't', cpuSeconds: 0 }))
    const records = [1, 2, 3, 4, 5, 6].flatMap(round =>
      [PIPY, ENVOY].map(arm =>
        createRecord({ arm, round, processes: [sidecar({ threads: threadsOf(arm === PIPY ? 2 : 4) })] }),
      ),
    )
    const shows = { quantities: ['threads'] }
    const thresholds = ['pipy/envoy threads <= 0.5', 'pipy/envoy threads@gateway <= 0.4']
    const summary = summariseRun({ arms: [PIPY, ENVOY], records, rounds: 6, shows, thresholds })
    expect(JSON.stringify(createVerdictBlocks(summary.results[0], summary.shows))).toContain(
      'pipy has 50 % fewer threads than envoy [50, 50], 6 repeats',
    )
    expect(summary.thresholds.map(t => t.held)).toEqual([true, false])
    expect(tabulatePivots(summary.results[0], summary.shows)[0].rows[0]).toEqual([
      'threads of sidecars, pipy',
      '2\n[2, 2]',
    ])
    expect(renderArmsCsv(summary).split('\r\n')[0]).toContain('threads,threadsLow,threadsHigh')
    expect(tabulateDictionary()[0].rows).toContainEqual(['threads of sidecars', 'How many threads the sidecars have.'])
  })

  it('are all defined, also two that have one label', () => {
    const rows = tabulateDictionary()[0].rows.filter(([label]) => label === 'control kB a sidecar')
    const { controlPerSidecar, grownPerSidecar } = QUANTITIES
    expect(rows.map(row => row[1])).toEqual([controlPerSidecar.definition, grownPerSidecar.definition])
  })
})

// Summaries keep a quantity under its header: of two with one header, one would be lost.
it('have headers of their own', () => {
  const headers = Object.values(QUANTITIES).map(({ header }) => header)
  expect(headers.filter((header, i) => headers.indexOf(header) !== i)).toEqual([])
})
