// Factors that move the CPU a request costs a sidecar, one at a time: the length of a turn, the placement, the generator,
// the users, the arms that stand beside. Rows are appended to a file, so a grid can be measured in pieces.
import { appendFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { computeCpuPerRequestMicros, listSidecars } from '../../src/judge/record/measures.js'
import { groupBy } from '../../src/lib/group-by.js'
import { ROOT } from '../../src/lib/paths.js'
import { summariseRatios } from '../../src/lib/stats.js'
import { k6 } from '../../src/loads/k6/index.js'
import { orderSlices } from '../../src/loads/slices.js'
import { wrk } from '../../src/loads/wrk/index.js'
import { createProcess } from '../../src/model/processes.js'
import { benchAlternately } from './alternating.js'
import { createBurnVariant } from './burn.js'
import { getScratch } from './kit.js'
import { profileTurn } from './turn-profile.js'

/**
 * @import { LoadGenerator, LoadResult, TrialRecord } from '../../src/model/types.ts'
 * @import { Place } from './alternating.js'
 * @typedef {{ name: string, turnMs?: number, load?: LoadGenerator, users?: number, place?: Place, planes?: string[],
 *   windowSeconds?: number }} Variant turnMs: absent: windows of one arm that stands alone
 * @typedef {{ round: number, pipy: number, envoy: number, planted?: number }} Cost microseconds a request
 * @typedef {Cost & { study: string, variant: string, startedAt: string }} Row
 */

const USERS = 32
const RATIO_BIAS_MOST = 0.02
const MICROS_BIAS_MOST = 0.05
const PLANTED_TURNS = 30
const FIRST_HALF = [0]
const SECOND_HALF = [1]

/** CPUs of each process, on a machine of two. @type {Record<string, Place>} */
const PLACES = {
  unpinned: () => undefined,
  pinned: ({ role }) => (role === 'generator' ? SECOND_HALF : FIRST_HALF),
  'generator pinned': ({ role }) => (role === 'generator' ? SECOND_HALF : undefined),
  spread: ({ role, service }) =>
    role === 'generator' ? undefined : service === 'gateway' || service === 'client' ? FIRST_HALF : SECOND_HALF,
}

const LENGTHS_MS = [20, 100, 250, 500, 1000, 4000]
const plainWrk = createPlainWrk()

/** @type {Record<string, () => Variant[]>} */
const STUDIES = {
  designs: () => [
    { name: 'k6, 20 ms, generator and proxies apart', turnMs: 20, place: PLACES.pinned },
    { name: 'k6, 20 ms, unpinned', turnMs: 20 },
    { name: 'k6, 250 ms, unpinned', turnMs: 250 },
    { name: 'k6, 500 ms, unpinned', turnMs: 500 },
    { name: 'k6, 1000 ms, unpinned', turnMs: 1000 },
    { name: 'k6, windows of one arm alone, unpinned' },
    { name: 'plain wrk, 1000 ms, unpinned', turnMs: 1000, load: plainWrk },
  ],
  generators: () => [
    { name: 'k6, 20 ms, apart', turnMs: 20, place: PLACES.pinned },
    { name: 'k6, 500 ms, unpinned: the default', turnMs: 500 },
    { name: 'k6, windows of one arm, 200 users', users: 200 },
    { name: 'k6, windows of one arm' },
    { name: 'wrk, 20 ms, apart', turnMs: 20, load: wrk, place: PLACES.pinned },
    { name: 'wrk, 20 ms, unpinned', turnMs: 20, load: wrk },
    { name: 'wrk, 200 ms, apart', turnMs: 200, load: wrk, place: PLACES.pinned },
    { name: 'wrk, 1000 ms, apart', turnMs: 1000, load: wrk, place: PLACES.pinned },
    { name: 'plain wrk, 1000 ms, unpinned', turnMs: 1000, load: plainWrk },
    { name: 'plain wrk, 1000 ms, apart', turnMs: 1000, load: plainWrk, place: PLACES.pinned },
  ],
  length: () => LENGTHS_MS.map(turnMs => ({ name: `${turnMs} ms`, turnMs })),
  'length-wrk': () => LENGTHS_MS.map(turnMs => ({ name: `${turnMs} ms`, turnMs, load: wrk })),
  'length-pinned': () => [20, 250, 1000].map(turnMs => ({ name: `${turnMs} ms`, turnMs, place: PLACES.pinned })),
  placement: () =>
    Object.entries(PLACES).flatMap(([name, place]) =>
      [20, 500].map(turnMs => ({ name: `${name}, ${turnMs} ms`, turnMs, place })),
    ),
  generator: () => [
    ...[k6, wrk, plainWrk].map(load => ({ name: load.name, turnMs: 1000, load })),
    ...[k6, wrk, plainWrk].map(load => ({ name: `${load.name}, pinned`, turnMs: 1000, load, place: PLACES.pinned })),
  ],
  users: () =>
    [8, 32, 200].flatMap(users =>
      [k6, wrk].map(load => ({ name: `${users} users, ${load.name}`, turnMs: 500, users, load })),
    ),
  beside: () => [
    { name: 'alone, windows' },
    { name: '2 arms', turnMs: 1000 },
    { name: '6 arms', turnMs: 1000, planes: ['pipy', 'envoy', ...writeCopies(4)] },
  ],
  windows: () => [
    { name: 'windows of one arm alone', windowSeconds: 16 },
    ...[250, 500, 1000, 4000].map(turnMs => ({ name: `${turnMs} ms`, turnMs })),
  ],
}

/**
 * @param {{ study: string, rounds?: number, windowSeconds?: number, into: string, only?: RegExp }} options
 * @returns {Promise<import('./kit.js').Finding[]>} none: it measures, and promises nothing
 */
export async function studyBias({ study, rounds = 4, windowSeconds = 8, into, only = /./ }) {
  const variants = STUDIES[study]().filter(({ name }) => only.test(name))
  const startedAt = new Date().toISOString()
  const runs = await benchAlternately(
    variants.map(({ turnMs, load, place, ...variant }, i) => ({
      experiment: writeExperiment(`${study}-${i}`, {
        rounds,
        windowSeconds,
        ...variant,
        isAlone: turnMs === undefined,
        relaxes: load === plainWrk ? ['passage'] : [],
      }),
      ...(turnMs === undefined ? {} : { sliceMs: turnMs }),
      load,
      place,
      gate: async () => [],
    })),
  )
  mkdirSync(path.dirname(into), { recursive: true })
  for (const [i, { records }] of runs.entries()) {
    for (const row of listRoundCosts(records))
      appendFileSync(into, `${JSON.stringify({ study, variant: variants[i].name, startedAt, ...row })}\n`)
  }
  print(into, study)
  return []
}

/**
 * Holds the default design against long windows of one arm, unpinned both: the ratio of two planes, that of a planted
 * change, and microseconds; and whole turns against their second halves, which the start of a turn does not touch.
 * @param {{ rounds?: number, windowSeconds?: number }} options
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function holdAgainstWindows({ rounds = 8, windowSeconds = 8 } = {}) {
  const [interleaved, windows] = await measureHeld([false, true], { rounds, windowSeconds })
  const long = listRoundCosts(windows.records)
  return [
    ...holdTurns(interleaved),
    ...compareRows('interleaved over long windows', listRoundCosts(interleaved.records), long),
  ]
}

/**
 * Holds whole turns of the default design against their second halves alone: as long as a turn's start is dear, they differ.
 * Both are of the same turns, so they are held more narrowly than windows of another minute.
 * @param {{ rounds?: number, windowSeconds?: number }} options
 */
export async function holdStartOfTurns({ rounds = 24, windowSeconds = 12 } = {}) {
  const [interleaved] = await measureHeld([false], { rounds, windowSeconds })
  return holdTurns(interleaved)
}

/** @param {boolean[]} designs whether each has windows of one arm alone @param {{ rounds: number, windowSeconds: number }} lengths */
function measureHeld(designs, lengths) {
  const planes = ['pipy', 'envoy', `pipy=${createBurnVariant('planted', PLANTED_TURNS)}`]
  return benchAlternately(
    designs.map(isAlone => ({
      experiment: writeExperiment(`held-${isAlone}`, { ...lengths, planes, relaxes: [], isAlone }),
      gate: async () => [],
    })),
  )
}

/** @param {Measured} interleaved */
function holdTurns(interleaved) {
  const { folder, records } = interleaved
  const whole = records.filter(({ outcome }) => outcome !== 'failed')
  const profiles = new Map(whole.map(record => [record, profileTurn({ folder, record })]))
  printProfile(profiles)
  const late = listLateTurnCosts(profiles)
  return compareRows('whole turns over their second halves', listRoundCosts(interleaved.records), late)
}

/** @type {{ name: string, most: number, of: (row: Cost) => number }[]} */
const HELD = [
  { name: 'Pipy / Envoy', most: RATIO_BIAS_MOST, of: row => row.pipy / row.envoy },
  { name: 'Pipy / a copy that does more', most: RATIO_BIAS_MOST, of: row => row.pipy / Number(row.planted) },
  { name: 'µs of Pipy', most: MICROS_BIAS_MOST, of: row => row.pipy },
  { name: 'µs of Envoy', most: MICROS_BIAS_MOST, of: row => row.envoy },
]

/** Holds rows against others of the same rounds. @param {string} how @param {Cost[]} rows @param {Cost[]} others */
function compareRows(how, rows, others) {
  const both = rows.flatMap(row => others.filter(({ round }) => round === row.round).map(other => [row, other]))
  return HELD.map(({ name, most, of: measure }) => {
    const ratio = summariseRatios(
      both.map(([row, other]) => measure(row) / measure(other)),
      1,
    )
    const [low, high] = [Number(ratio.low), Number(ratio.high)]
    const isWithin = low >= 1 - most && high <= 1 + most
    const isBeyond = low > 1 + most || high < 1 - most
    return {
      promise: `${name}, ${how}, ${(1 - most).toFixed(2)} to ${(1 + most).toFixed(2)}`,
      measured: `${renderMedian(ratio.values, 3)} in ${both.length} repeats`,
      // An interval that reaches beyond the bound decides nothing.
      isKept: ratio.low === null || !(isWithin || isBeyond) ? null : isWithin,
    }
  })
}

/** @typedef {{ folder: string, records: TrialRecord[] }} Measured */

/** @typedef {Map<TrialRecord, import('./turn-profile.js').Piece[]>} Profiles of the turns of each record */

/** Finds what a request costs in the second half of each turn. @param {Profiles} profiles @returns {Cost[]} */
function listLateTurnCosts(profiles) {
  return listRoundCosts([...profiles.keys()], record => {
    const profile = profiles.get(record) ?? []
    return computePieceCost(profile.slice(Math.ceil(profile.length / 2)))
  })
}

/** Prints what a request costs by the time since the turn began, all repeats together. @param {Profiles} profiles */
function printProfile(profiles) {
  console.log('| since the turn began | arm | µs a request |\n| --- | --- | --- |')
  for (const [armId, ofArm] of groupBy([...profiles], ([{ trial }]) => trial.arm.id)) {
    const [[, { length }]] = ofArm
    for (let i = 0; i < length; i++) {
      const pieces = ofArm.map(([, profile]) => profile[i])
      console.log(`| ${100 * i} to ${100 * (i + 1)} ms | ${armId} | ${computePieceCost(pieces).toFixed(1)} |`)
    }
  }
}

/** @param {import('./turn-profile.js').Piece[]} pieces @returns {number} microseconds a request */
function computePieceCost(pieces) {
  const sum = (/** @type {'cpuSeconds' | 'requests'} */ name) => pieces.reduce((all, piece) => all + piece[name], 0)
  return (1e6 * sum('cpuSeconds')) / sum('requests')
}

/**
 * @param {TrialRecord[]} records @param {(record: TrialRecord) => number | null} [measure] microseconds a request
 * @returns {Cost[]}
 */
function listRoundCosts(records, measure = record => computeCpuPerRequestMicros(record, listSidecars(record))) {
  const rounds = [...new Set(records.map(r => r.trial.round))]
  return rounds.flatMap(round => {
    const find = (/** @type {string} */ plane, isPlanted = false) => {
      const record = records.findLast(
        ({ trial, outcome }) =>
          trial.round === round &&
          trial.arm.plane === plane &&
          Boolean(trial.arm.variant?.endsWith('planted')) === isPlanted &&
          (isPlanted || trial.arm.variant === null) &&
          outcome !== 'failed',
      )
      return record ? measure(record) : null
    }
    const [pipy, envoy, planted] = [find('pipy'), find('envoy'), find('pipy', true)]
    return pipy && envoy ? [{ round, pipy, envoy, ...(planted && { planted }) }] : []
  })
}

/** Prints a table of a study's rows, of all times that it ran. @param {string} file @param {string} study */
export function print(file, study) {
  if (!existsSync(file)) return
  /** @type {Row[]} */
  const rows = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
    .filter(row => row.study === study)
  const names = [...new Set(rows.map(({ variant }) => variant))]
  console.log(`| ${study} | Pipy, µs | Envoy, µs | Pipy / Envoy | repeats |\n| --- | --- | --- | --- | --- |`)
  for (const name of names) {
    const variantRows = rows.filter(({ variant }) => variant === name)
    const costs = /** @type {const} */ (['pipy', 'envoy']).map(plane =>
      renderMedian(
        variantRows.map(row => row[plane]),
        1,
      ),
    )
    console.log(
      `| ${name} | ${costs.join(' | ')} | ${renderMedian(
        variantRows.map(({ pipy, envoy }) => pipy / envoy),
        3,
      )} | ${variantRows.length} |`,
    )
  }
}

/** @param {(number | null)[]} values @param {number} digits */
function renderMedian(values, digits) {
  const { median: middle, low, high } = summariseRatios(values, 1)
  const format = (/** @type {number | null} */ value) => value?.toFixed(digits)
  return low === null ? `${format(middle ?? null)}` : `${format(middle)} [${format(low)}, ${format(high)}]`
}

/**
 * @param {string} name
 * @param {{ rounds: number, windowSeconds: number, users?: number, planes?: string[], isAlone: boolean, relaxes: string[] }} options
 */
function writeExperiment(name, { rounds, windowSeconds, users = USERS, planes = ['pipy', 'envoy'], isAlone, relaxes }) {
  const file = path.join(getScratch(), `bias-${name}.yaml`)
  writeFileSync(
    file,
    `name: bias
question: What moves the cost of a request?
axes: { plane: [${planes.join(', ')}], link: [gateway-ratings], cpuLimitCores: none, workers: [1], users: [${users}] }
measure: [${isAlone ? 'capacity' : 'cost'}]
trafficPolicy: open
relaxes: [${relaxes.map(gate => `{ gate: ${gate}, why: its connections end with each turn }`).join(', ')}]
profiles: { standard: { rounds: ${rounds}, windowSeconds: ${windowSeconds}, warmupSeconds: 1, hasControl: false } }
`,
  )
  return file
}

/** Copies the kit's Pipy scripts, for arms that stand beside. @param {number} count */
function writeCopies(count) {
  return Array.from({ length: count }, (_, i) => {
    const folder = path.join(getScratch(), `copy-${i}`)
    cpSync(path.join(ROOT, 'pipy-scripts'), folder, { recursive: true })
    return `pipy=${folder}`
  })
}

/** wrk without a script that counts: what a check by hand uses. @returns {LoadGenerator} */
function createPlainWrk() {
  return {
    ...wrk,
    name: 'plain wrk',
    createGenerator({ tool, urls, arms = [], seed = 0, load, tailMs, folder }) {
      const options = {
        program: tool.path,
        script: path.join(ROOT, 'bench/self/plain-wrk.lua'),
        urls: arms.length > 0 ? arms.map(arm => arm.urls[0]) : urls,
        order: orderSlices({ arms: Math.max(1, arms.length), slices: 100, seed }),
        users: load.users,
        turnMs: load.sliceMs ?? 1000,
        warmupMs: Math.round(load.warmupSeconds * 1000) + 1000 * Math.max(1, arms.length),
        windowMs: Math.round(load.windowSeconds * 1000),
        tailMs,
      }
      return createProcess({
        service: 'wrk',
        role: 'generator',
        program: process.execPath,
        argv: [path.join(ROOT, 'bench/self/plain-wrk.js'), JSON.stringify(options)],
        env: { PAYLOAD_BYTES: `${load.payloadBytes}` },
        folder,
        scripts: [],
        listens: [],
        workers: 0,
        image: null,
      })
    },
    parseResult(log, place = 0) {
      const [, text] = /^plain (.+)$/m.exec(log) ?? []
      if (!text) return null
      const { counts, seconds } = JSON.parse(text)
      return /** @type {LoadResult} */ ({
        verified: counts[place],
        failed: 0,
        corrupted: 0,
        verifiedInSecondHalf: Math.round(counts[place] / 2),
        coldUsers: 0,
        reportedUsers: USERS,
        dropped: 0,
        lagP99Ms: null,
        distribution: null,
        series: null,
        failures: [],
        interleaved: { seconds: seconds[place], perTenth: [] },
      })
    },
  }
}
