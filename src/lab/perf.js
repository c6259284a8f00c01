import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { FIELDS, parsePerfScript } from './perf-script.js'

/**
 * Samples of processes that run: https://man7.org/linux/man-pages/man1/perf-record.1.html.
 * @import { ProcessSpec, Tool } from '../model/types.ts'
 */

// A clock of the kernel, which virtual machines have, too; the counters of a CPU they often have not.
const EVENT = 'cpu-clock'
// Not a divisor of what happens a thousand times a second.
export const SAMPLES_PER_SECOND = 499
const PARANOID = '/proc/sys/kernel/perf_event_paranoid'

/** The file in which a process writes its id. @param {string} folder of the process */
const pidFileIn = folder => path.join(folder, 'pid')

/** The process, which first writes its id. @param {ProcessSpec} spec @returns {ProcessSpec} */
export function writingPid(spec) {
  const script = 'echo $$ >"$1" && shift && exec "$@"'
  return { ...spec, program: '/bin/sh', argv: ['-c', script, 'sh', pidFileIn(spec.folder), spec.program, ...spec.argv] }
}

/** @param {string} folder of a process that writes its id */
export async function readPid(folder) {
  return Number(await readFile(pidFileIn(folder), 'utf8'))
}

/**
 * Samples this process for a moment, before anything starts whose samples the kernel would refuse.
 * @param {{ perf: Tool, folder: string, signal: AbortSignal }} options folder: for a file that perf writes
 * @throws {BenchError} where the kernel does not let perf sample
 */
export async function assertSamples({ perf, folder, signal }) {
  await samplePids({ perf, pids: [process.pid], seconds: 0.1, file: path.join(folder, 'check.perf'), signal })
}

/**
 * Samples processes for a time.
 * @param {{ perf: Tool, pids: number[], seconds: number, file: string, signal: AbortSignal }} options file: that perf
 *   writes; it is removed
 * @returns {Promise<ReturnType<typeof parsePerfScript>>}
 * @throws {BenchError} where the kernel does not let it
 */
export async function samplePids({ file, ...asked }) {
  try {
    return parsePerfScript(await recordPids({ file, ...asked }))
  } finally {
    await rm(file, { force: true })
  }
}

/** @param {Parameters<typeof samplePids>[0]} options @returns {Promise<string>} what perf script prints */
async function recordPids({ perf, pids, seconds, file, signal }) {
  const run = (/** @type {string[]} */ argv) =>
    execa(perf.path, argv, { cancelSignal: signal, stdin: 'ignore', maxBuffer: 2 ** 30, reject: false })
  // Pipy has no frame pointers: the stack is copied, and unwound afterwards.
  const how = ['-e', EVENT, '-F', `${SAMPLES_PER_SECOND}`, '--call-graph', 'dwarf']
  const recorded = await run(['record', ...how, '-o', file, '-p', pids.join(','), '--', 'sleep', `${seconds}`])
  signal.throwIfAborted()
  if (recorded.failed) throw new BenchError(describeRefusal(`${recorded.stderr}`, await readParanoid()))
  const read = await run(['script', '-i', file, '--no-inline', '-F', FIELDS])
  signal.throwIfAborted()
  if (read.failed) throw new BenchError(`perf cannot read what it recorded: ${lineOf(`${read.stderr}`)}`)
  return `${read.stdout}`
}

/** @param {string} stderr of perf record @param {string | null} paranoid null: the kernel has no such file */
export function describeRefusal(stderr, paranoid) {
  const setting = paranoid === null ? `there is no ${PARANOID}` : `${PARANOID} is ${paranoid}`
  const advice =
    'run as root, or sudo sysctl kernel.perf_event_paranoid=2; a container needs CAP_PERFMON, and a seccomp profile that lets it call perf_event_open'
  return `perf cannot sample the sidecars: ${lineOf(stderr)} (${setting}); ${advice}`
}

/** @returns {Promise<string | null>} */
function readParanoid() {
  return readFile(PARANOID, 'utf8').then(
    text => text.trim(),
    () => null,
  )
}

/** The first line that says something. @param {string} text */
function lineOf(text) {
  const line = text.split('\n').find(line => /\w/.test(line) && line.trim() !== 'Error:')
  return line?.trim().replace(/[.:]$/, '') ?? 'it does not say why'
}
