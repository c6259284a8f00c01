import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { CommanderError } from 'commander'
import { BenchError } from '../../src/lib/errors.js'
import { createRandom } from '../../src/lib/random.js'
import { MIB } from '../../src/lib/units.js'
import { collectGarbage, readOwnPeakBytes, resetOwnPeakMemory } from '../../src/node/observer.js'

/** Tries a parser with many inputs that are nearly right. @import { Random } from './mutate.js' */

/**
 * @typedef {object} Parser
 * @property {string} name
 * @property {(random: Random) => unknown} make an input
 * @property {(input: any) => unknown} parse a value, or a promise of one
 * @property {(value: any) => string | null} findFault what is wrong with a value that it gave; null: nothing
 * @property {number} [share] of the inputs; those that read whole runs take long
 */

/**
 * slowestMs: wall time; peakMib: the most memory beside what was there before, with garbage that was not collected yet
 * @typedef {{ name: string, inputs: number, values: number, refusals: number, slowestMs: number, peakMib: number }} Figures
 */

const SEED = Number(process.env.FUZZ_SEED ?? 1)
/** Inputs a parser. */
export const INPUTS = Number(process.env.FUZZ_INPUTS ?? 100)
// Of CPU time. An input that waits for ever is a hang.
const SLOW_MS = 2000
const PEAK_MIB_MOST = 200
// Inputs after which memory is read and garbage collected: system calls take longer than many an input.
// Readers of whole runs have a share of both.
const BATCH = 1000
const HANGS_MS = 30_000
// Beside what it quotes.
const MESSAGE_MOST = 3000
const INTERNAL =
  /\n\s+at |Cannot read properties|is not (?:a function|iterable|defined)|undefined|\[object Object\]|Maximum call stack/
const BUILT_IN = [Object, Array, Function, String, Number].map(({ prototype }) => ({
  prototype,
  names: Reflect.ownKeys(prototype).length,
}))

/** @param {Parser} parser @returns {Promise<Figures>} @throws with the seed that makes the input again, and the input */
export async function tryParser({ name, make, parse, findFault, share = 1 }) {
  const inputs = Math.ceil(INPUTS * share)
  const batch = Math.ceil(BATCH * share)
  const figures = { name, inputs, values: 0, refusals: 0, slowestMs: 0, peakMib: 0 }
  collectGarbage()
  resetOwnPeakMemory()
  const beforeBytes = process.memoryUsage().rss
  const watch = watchForHangs(name)
  try {
    for (let i = 0; i < inputs; i++) {
      const seed = SEED * 1_000_003 + i
      watch.begin(seed)
      const input = make(createRandom(seed))
      const begin = performance.now()
      const fault = await tryInput(input, { parse, findFault, figures })
      const milliseconds = performance.now() - begin
      figures.slowestMs = Math.max(figures.slowestMs, milliseconds)
      const isBatchEnd = i % batch === batch - 1 || i === inputs - 1
      const why =
        fault ??
        findPollution() ??
        (milliseconds > SLOW_MS ? await findSlow(input, parse) : null) ??
        (isBatchEnd ? await endBatch(beforeBytes, { batch, figures }) : null)
      if (why !== null) throw new Error(`${name}: ${why}\nseed ${seed}, input ${renderShortJson(input)}`)
    }
  } finally {
    watch.end()
  }
  return figures
}

/**
 * Parses a slow input again. Other test files take the CPUs, too, so its CPU time decides.
 * @param {unknown} input @param {Parser['parse']} parse @returns {Promise<string | null>} null: it takes little CPU time
 */
async function findSlow(input, parse) {
  const begin = process.cpuUsage()
  await Promise.resolve(input)
    .then(parse)
    .catch(() => {})
  const { user, system } = process.cpuUsage(begin)
  const milliseconds = (user + system) / 1000
  return milliseconds > SLOW_MS ? `it took ${milliseconds.toFixed(0)} ms of CPU time` : null
}

/**
 * Reads the most memory that was used so far, and collects garbage.
 * @param {number} beforeBytes @param {{ batch: number, figures: Figures }} options batch: its inputs
 * @returns {Promise<string | null>} null: it is within PEAK_MIB_MOST
 */
async function endBatch(beforeBytes, { batch, figures }) {
  figures.peakMib = ((readOwnPeakBytes() ?? beforeBytes) - beforeBytes) / MIB
  // Timers and finalizers of Node.js wait for a turn of its event loop; what they hold is no garbage before.
  await nextTurn()
  collectGarbage()
  if (figures.peakMib <= PEAK_MIB_MOST) return null
  return `one of the last ${batch} inputs took ${figures.peakMib.toFixed(0)} MiB of memory`
}

/**
 * @param {unknown} input @param {Pick<Parser, 'parse' | 'findFault'> & { figures: Figures }} options
 * @returns {Promise<string | null>} why it is neither a value that is right nor an error that a person can read
 */
export async function tryInput(input, { parse, findFault, figures }) {
  let value
  try {
    value = await parse(input)
  } catch (error) {
    figures.refusals++
    const { message, stack } = /** @type {Error} */ (error)
    if (!(error instanceof BenchError || error instanceof CommanderError)) return `it threw ${stack}`
    const shortened = typeof input === 'string' ? message.replaceAll(input, '…') : message
    const most = MESSAGE_MOST + (typeof input === 'string' ? input.length : 0)
    const isReadable = shortened.trim() !== '' && shortened.length <= most && !/\n\s*\n/.test(shortened)
    return isReadable && !INTERNAL.test(shortened) ? null : `its message is ${renderShortJson(message)}`
  }
  figures.values++
  const fault = findFault(value)
  return fault === null ? null : `it gave ${renderShortJson(value)}: ${fault}`
}

/** What every object has is as it was. */
function findPollution() {
  const polluted = BUILT_IN.find(({ prototype, names }) => Reflect.ownKeys(prototype).length !== names)
  return polluted ? `${polluted.prototype.constructor.name}.prototype has another member` : null
}

/**
 * A parser that does not return cannot be stopped from its own thread: another one says which input it was.
 * @param {string} name
 */
function watchForHangs(name) {
  const shared = new BigInt64Array(new SharedArrayBuffer(8))
  const source = `
    const { workerData: { shared, name, hangsMs, pid } } = require('node:worker_threads')
    let last = Atomics.load(shared, 0), since = Date.now()
    setInterval(() => {
      const seed = Atomics.load(shared, 0)
      if (seed !== last) { last = seed; since = Date.now() }
      if (Date.now() - since < hangsMs) return
      require('node:fs').writeSync(2, name + ' hangs: seed ' + seed + '\\n')
      process.kill(pid, 'SIGKILL')
    }, 500)`
  const worker = new Worker(source, {
    eval: true,
    workerData: { shared, name, hangsMs: HANGS_MS, pid: process.pid },
  })
  worker.unref()
  return {
    begin: (/** @type {number} */ seed) => void Atomics.store(shared, 0, BigInt(seed)),
    end: () => void worker.terminate(),
  }
}

/**
 * Every number in a value is one, but where NaN says that it could not be read.
 * @param {unknown} value @param {{ mayBeMissing?: boolean }} [options] @returns {string | null}
 */
export function findInfinite(value, { mayBeMissing = false } = {}) {
  if (typeof value === 'number') {
    return Number.isFinite(value) || (mayBeMissing && Number.isNaN(value)) ? null : `${value} is no number`
  }
  if (typeof value !== 'object' || value === null) return null
  const parts = value instanceof Map ? [...value.values()] : Object.values(value)
  for (const part of parts) {
    const fault = findInfinite(part, { mayBeMissing })
    if (fault !== null) return fault
  }
  return null
}

/** The figures as a table of Markdown. @param {Figures[]} figures */
export function renderFigures(figures) {
  const row = (/** @type {(string | number)[]} */ cells) => `| ${cells.join(' | ')} |`
  return [
    row(['parser', 'inputs', 'gave a valid value', 'refused with an error', 'slowest, ms', 'memory, MiB']),
    row(['---', '--:', '--:', '--:', '--:', '--:']),
    ...figures.map(({ name, inputs, values, refusals, slowestMs, peakMib }) =>
      row([name, inputs, values, refusals, slowestMs.toFixed(1), peakMib.toFixed(0)]),
    ),
    '',
    `FUZZ_INPUTS=${INPUTS} FUZZ_SEED=${SEED} npm run test:fuzz`,
    '',
  ].join('\n')
}

/** @param {unknown} value */
function renderShortJson(value) {
  const text = typeof value === 'string' ? JSON.stringify(value) : (JSON.stringify(value) ?? String(value))
  return text.length > 4000 ? `${text.slice(0, 4000)}…` : text
}
