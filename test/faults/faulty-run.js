import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { callSafely } from '../../src/lib/call-safely.js'
import { readLedgers } from '../../src/node/ledger.js'
import { readRun } from '../../src/records/records.js'
import { listMarkedProcesses } from '../../src/targets/local/marks.js'
import { findLeftovers, lookAtMachine } from './machine.js'

/** A short real run to which something is done in a phase of it, and what became of both. */

/** In the order of a run. */
export const PHASES = /** @type {const} */ ([
  ...['tools', 'preflight', 'parity', 'deploy', 'warm-up', 'window', 'tail', 'between rounds', 'summarise', 'report'],
  'teardown',
])
/** @typedef {typeof PHASES[number]} Phase */

const ROUNDS = 2
const ARGV = '--measure capacity --profile smoke --cpu 0.5 --planes pipy --link ratings --users 5'.split(' ')
// On a busy machine, beside two others.
const ENDS_WITHIN_MS = 120_000
const WINDOW = /window (\d+) (\d+)/

export const folder = mkdtempSync(path.join(os.tmpdir(), 'faults-test-'))
let count = 0

/**
 * @typedef {object} Fate
 * @property {number | undefined} exitCode
 * @property {string} stdout
 * @property {string} stderr
 * @property {import('../../src/model/types.ts').TrialRecord[]} records
 * @property {number} lost trials that were recorded when the fault came, and cannot be read afterwards
 * @property {number | undefined} verified the status of `verify`; undefined: there is no summary
 * @property {string[]} leftovers before anything cleaned up
 * @property {string} out
 */

/**
 * @param {{ phase: Phase, inject?: (run: Running) => unknown, env?: Record<string, string>, argv?: string[],
 *   wrap?: (command: string[]) => string[], out?: string }} options wrap: the command that starts the kit
 * @returns {Promise<Fate>}
 */
export async function runWithFault({
  phase,
  inject = () => {},
  env = {},
  argv = [],
  wrap = command => command,
  ...options
}) {
  const nth = ++count
  const out = options.out ?? path.join(folder, `run-${nth}`)
  const temporary = path.join(folder, `tmp-${nth}`)
  mkdirSync(temporary)
  const before = lookAtMachine({ runId: null, blocks: [], temporary })
  const command = ['node', 'src/cli.js', 'bench', ...ARGV, '--rounds', `${ROUNDS}`, '--out', out, ...argv]
  // A check that is not made again would be no phase to inject a fault into.
  if (phase === 'parity') command.push('--recheck')
  const [program, ...words] = wrap(command)
  const child = execa(program, words, {
    reject: false,
    // As a shell starts it: a signal can be sent to all of it.
    detached: true,
    cleanup: true,
    timeout: ENDS_WITHIN_MS,
    killSignal: 'SIGKILL',
    env: { TMPDIR: temporary, ...env },
  })
  const running = createRunning({ child, out })
  await running.reach(phase)
  const recorded = readRecords(out)
  try {
    await inject(running)
  } catch (error) {
    // No later test may find it.
    process.kill(-running.pid, 'SIGKILL')
    await child
    await execa('node', ['src/cli.js', 'cleanup'], { reject: false, env: { TMPDIR: temporary } })
    throw error
  }
  const { exitCode, signal, stdout, stderr } = await child
  const leftovers = findLeftovers(
    before,
    lookAtMachine({ runId: running.runId(), blocks: running.blocks(), temporary }),
  )
  // An unsteady window is measured again: that is none of the fault's.
  const readable = readRecords(out)
  const records = readable.filter(({ trial }) => trial.repeats === null)
  const hasSummary = existsSync(path.join(out, 'summary.json'))
  return {
    exitCode: exitCode ?? (signal ? 128 + os.constants.signals[/** @type {'SIGKILL'} */ (signal)] : undefined),
    stdout: `${stdout}`,
    stderr: `${stderr}`,
    records,
    lost: recorded.filter(({ trial }) => !readable.some(record => record.trial.id === trial.id)).length,
    verified: hasSummary ? (await execa('node', ['src/cli.js', 'verify', out], { reject: false })).exitCode : undefined,
    leftovers,
    out,
  }
}

/** @param {string} out */
export function readRecords(out) {
  return existsSync(path.join(out, 'manifest.json')) && existsSync(path.join(out, 'trials.jsonl'))
    ? readRun(out).records
    : []
}

/** Removes what a killed run left, and says what stays. @param {string[]} leftovers */
export async function cleanUp(leftovers) {
  await execa('node', ['src/cli.js', 'cleanup'], { reject: false })
  const ids = readLedgers().map(({ runId }) => runId)
  // Not by /proc/<pid>: what has ended stays there until the machine's first process reaps it.
  const pids = listMarkedProcesses().map(({ pid }) => pid)
  return leftovers.filter(line => {
    const [kind, name] = line.split(/: (.*)/)
    if (kind === 'ledgers') return ids.includes(name)
    if (kind === 'cgroups') return existsSync(name)
    if (kind === 'processes') return pids.includes(Number(/\((\d+)\)/.exec(name)?.[1]))
    return kind === 'mounts' || kind === 'temporary'
  })
}

/** @typedef {ReturnType<typeof createRunning>} Running */

/** @param {{ child: import('execa').ResultPromise, out: string }} options */
function createRunning({ child, out }) {
  const pid = /** @type {number} */ (child.pid)
  /** @type {string | null} */
  let id = null
  const runId = () => {
    id ??= readLedgers().find(({ owner }) => owner?.command.includes(out))?.runId ?? null
    return id
  }
  /** @type {Set<string>} */
  const blocks = new Set()
  const noteBlocks = () => {
    for (const { owner, holdings } of readLedgers())
      for (const { kind, name } of owner?.command.includes(out) ? holdings : [])
        if (kind === 'addresses') blocks.add(name)
  }
  // The ledger says which addresses a run has, until it has ended.
  const noting = setInterval(noteBlocks, 200)
  child.finally(() => clearInterval(noting)).catch(() => {})
  const ownerPid = () => readLedgers().find(({ owner }) => owner?.command.includes(out))?.owner?.pid ?? pid
  const processes = (/** @type {RegExp} */ names) =>
    listMarkedProcesses().flatMap(marked => (marked.runId === runId() && names.test(marked.name) ? [marked.pid] : []))
  const has = (/** @type {string} */ name) => existsSync(path.join(out, name))
  const read = (/** @type {string} */ name) => callSafely(() => readFileSync(path.join(out, name), 'utf8'), '')
  const records = () => read('trials.jsonl').split('\n').length - 1
  const firstTrial = () => callSafely(() => readdirSync(path.join(out, 'raw')), []).find(name => name.startsWith('r1-'))
  const window = () => {
    const [, start, end] = WINDOW.exec(read(`raw/${firstTrial()}/k6-generator.log`)) ?? []
    return { start: Number(start), end: Number(end) }
  }
  /** @type {Record<Phase, () => boolean>} */
  const isReached = {
    tools: () => true,
    preflight: () => runId() !== null,
    parity: () => processes(/./).length > 0,
    deploy: () => firstTrial() !== undefined,
    'warm-up': () => processes(/^k6-generator$/).length > 0,
    window: () => Date.now() > window().start,
    tail: () => Date.now() > window().end,
    'between rounds': () => records() >= 1,
    summarise: () => records() >= ROUNDS,
    report: () => has('summary.json'),
    teardown: () => has('report.html'),
  }
  return {
    child,
    out,
    pid,
    ownerPid,
    runId,
    blocks: () => [...blocks],
    processes,
    /** @param {Phase} phase */
    async reach(phase) {
      let isEnded = false
      child.finally(() => (isEnded = true)).catch(() => {})
      while (!isReached[phase]() && !isEnded) await new Promise(resolve => setTimeout(resolve, 10))
      if (phase !== 'tools' && !isReached[phase]() && isEnded)
        throw new Error(`the run ended before its phase ${phase}: ${(await child).stderr}`)
    },
  }
}
