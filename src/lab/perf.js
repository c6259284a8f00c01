import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { FIELDS, parsePerfScript } from './perf-script.js'

/**
 * Samples running processes with perf: https://man7.org/linux/man-pages/man1/perf-record.1.html.
 * @import { ProcessSpec, Tool } from '../model/types.ts'
 */

// A clock of the kernel: virtual machines often lack the counters of a CPU.
const EVENT = 'cpu-clock'
// A prime number, so that samples do not follow events that repeat a thousand times a second.
const SAMPLES_PER_SECOND = 499
const PARANOID = '/proc/sys/kernel/perf_event_paranoid'

/** @param {string} folder of the process that writes its id there */
const pidFileIn = folder => path.join(folder, 'pid')

/** Makes a process write its id before it starts. @param {ProcessSpec} spec @returns {ProcessSpec} */
export function writingPid(spec) {
  const script = 'echo $$ >"$1" && shift && exec "$@"'
  return { ...spec, program: '/bin/sh', argv: ['-c', script, 'sh', pidFileIn(spec.folder), spec.program, ...spec.argv] }
}

/** Reads the id that a process wrote. @param {string} folder of the process */
export async function readPid(folder) {
  return Number(await readFile(pidFileIn(folder), 'utf8'))
}

/**
 * Samples this process for a moment, to learn early whether the kernel lets perf sample.
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
  // Pipy has no frame pointers, so that perf copies the stack and unwinds it afterwards.
  const how = ['-e', EVENT, '-F', `${SAMPLES_PER_SECOND}`, '--call-graph', 'dwarf']
  const recorded = await run(['record', ...how, '-o', file, '-p', pids.join(','), '--', 'sleep', `${seconds}`])
  signal.throwIfAborted()
  if (recorded.failed) {
    const paranoid = await readFile(PARANOID, 'utf8').catch(() => null)
    throw new BenchError(describeRefusal(`${recorded.stderr}`, paranoid))
  }
  const read = await run(['script', '-i', file, '--no-inline', '-F', FIELDS])
  signal.throwIfAborted()
  if (read.failed) throw new BenchError(`perf cannot read what it recorded: ${lineOf(`${read.stderr}`)}`)
  return `${read.stdout}`
}

/** Explains why perf took no samples. @param {string} stderr @param {string | null} paranoid null: no such file */
export function describeRefusal(stderr, paranoid) {
  const setting = paranoid === null ? `there is no ${PARANOID}` : `${PARANOID} is ${paranoid.trim()}`
  const advice =
    'run as root, or sudo sysctl kernel.perf_event_paranoid=2; a container needs CAP_PERFMON, and a seccomp profile that lets it call perf_event_open'
  return `perf cannot sample the sidecars: ${lineOf(stderr)} (${setting}); ${advice}`
}

/** Finds the first line with words. @param {string} text */
function lineOf(text) {
  const line = text.split('\n').find(line => /\w/.test(line) && line.trim() !== 'Error:')
  return line?.trim().replace(/[.:]$/, '') ?? 'it does not say why'
}
