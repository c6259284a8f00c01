import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { groupBy } from '../lib/group-by.js'
import { findNoexecMount } from '../lib/mounts.js'
import { joinStacks, shortenName } from './profile.js'

/**
 * Samples running processes with perf: https://man7.org/linux/man-pages/man1/perf-record.1.html. For each sample, perf script
 * prints a line with the process and the event, then the stack, the innermost function first.
 * @import { ProcessSpec, Tool } from '../model/types.ts'
 * @import { Profile, Stack } from './profile.js'
 */

// A timer of the kernel: virtual machines often lack the hardware counters of a CPU.
const EVENT = 'cpu-clock'
// A prime number, so that samples do not follow events that repeat a thousand times a second.
const SAMPLES_PER_SECOND = 499
// The timeout of perf script, which takes minutes on a slow machine, and of a perf record that does not end.
const READ_MS = 600_000
const PARANOID = '/proc/sys/kernel/perf_event_paranoid'
// The fields that perf script prints for each sample.
const FIELDS = 'pid,event,ip,sym,dso'
const SAMPLE = /^\s*(\d+)\s+([\w-]+(?::\w+)?):\s*$/
const FRAME = /^\s+([0-9a-f]+) (.*?) \((\S*(?: \(deleted\))?)\)$/
const SYSTEM_CALL = /^_+(?:(?:x64|ia32|arm64|se)_)?sys_(\w+)$/
// The address at which the copy of the stack was cut off.
const CUT_OFF = /^f{16}$/
// Functions on every way into the kernel.
const ENTRY = /^(entry_|do_syscall_|x64_sys_call$|el0|invoke_syscall|do_el0)/

/**
 * Locates the file to which `wrapWithPidFile` makes a process write its id.
 * @param {string} folder of the process
 */
const locatePidFile = folder => path.join(folder, 'pid')

/**
 * Changes the command of a process so that it first writes its process id into its folder (`exec` keeps the id).
 * @param {ProcessSpec} spec is copied
 * @returns {ProcessSpec}
 */
export function wrapWithPidFile(spec) {
  const script = 'echo $$ >"$1" && shift && exec "$@"'
  return {
    ...spec,
    program: '/bin/sh',
    argv: ['-c', script, 'sh', locatePidFile(spec.folder), spec.program, ...spec.argv],
  }
}

/**
 * Reads the id that a process wrote.
 * @param {string} folder of the process
 * @returns {Promise<number>} 0: the file is there, and still empty
 * @throws the system's error if it has not written it
 */
export async function readPid(folder) {
  return Number(await readFile(locatePidFile(folder), 'utf8'))
}

/**
 * Asserts that the kernel lets perf sample, by sampling this process for a moment.
 * @param {{ perf: Tool, folder: string, signal: AbortSignal }} options folder: for the file that perf writes, which is removed
 * @throws as `samplePids`
 */
export async function assertCanSample({ perf, folder, signal }) {
  await samplePids({ perf, pids: [process.pid], seconds: 0.1, file: path.join(folder, 'check.perf'), signal })
}

/**
 * Samples processes, SAMPLES_PER_SECOND times per second of CPU time.
 * @param {object} options
 * @param {Tool} options.perf
 * @param {number[]} options.pids process ids
 * @param {number} options.seconds
 * @param {string} options.file that perf writes; it is removed afterwards
 * @param {AbortSignal} options.signal
 * @returns {Promise<ReturnType<typeof parsePerfScript>>} `profiles` lacks processes without a sample
 * @throws {BenchError} if the kernel does not let perf sample, or perf cannot read its file; the signal's reason when it aborts
 */
export async function samplePids({ file, ...options }) {
  try {
    return parsePerfScript(await recordSamples({ file, ...options }))
  } finally {
    await rm(file, { force: true })
  }
}

/**
 * Records samples of processes into the file, which stays, and reads it by perf script.
 * @param {Parameters<typeof samplePids>[0]} options
 * @returns {Promise<string>} the output of perf script
 * @throws as `samplePids`
 */
async function recordSamples({ perf, pids, seconds, file, signal }) {
  const run = (/** @type {string[]} */ argv, timeout = READ_MS) =>
    execa(perf.path, argv, { cancelSignal: signal, stdin: 'ignore', maxBuffer: 2 ** 30, reject: false, timeout })
  // Pipy is built without frame pointers, so that perf copies the stack and unwinds it afterwards.
  const samplingOptions = ['-e', EVENT, '-F', `${SAMPLES_PER_SECOND}`, '--call-graph', 'dwarf']
  const recorded = await run(
    ['record', ...samplingOptions, '-o', file, '-p', pids.join(','), '--', 'sleep', `${seconds}`],
    1000 * seconds + READ_MS,
  )
  signal.throwIfAborted()
  if (recorded.failed) {
    const paranoid = await readFile(PARANOID, 'utf8').catch(() => null)
    throw new BenchError(renderPerfRefusal(`${recorded.stderr}`, paranoid, { isRoot: process.getuid?.() === 0, file }))
  }
  const read = await run(['script', '-i', file, '--no-inline', '-F', FIELDS])
  signal.throwIfAborted()
  if (read.failed) throw new BenchError(`perf cannot read what it recorded: ${findPerfError(`${read.stderr}`)}`)
  return `${read.stdout}`
}

/**
 * Renders the reason for which perf took no samples, with advice.
 * @param {string} stderr of perf
 * @param {string | null} paranoid the value of the kernel setting; null: the file does not exist
 * @param {{ isRoot?: boolean, file?: string }} [options] file: to which perf writes; absent: its mount is not checked
 * @returns {string}
 */
export function renderPerfRefusal(stderr, paranoid, { isRoot = false, file } = {}) {
  const setting = paranoid === null ? `there is no ${PARANOID}` : `${PARANOID} is ${paranoid.trim()}`
  const mount = file === undefined ? null : findNoexecMount(file)
  if (mount !== null)
    return `perf cannot sample the sidecars: ${findPerfError(stderr)}; it wrote to ${mount}, which is mounted with noexec: set TMPDIR to a folder elsewhere`
  const containerAdvice = 'a container needs CAP_PERFMON, and a seccomp profile that lets it call perf_event_open'
  const rootAdvice = isRoot ? '' : 'run as root, or sudo sysctl kernel.perf_event_paranoid=2; '
  return `perf cannot sample the sidecars: ${findPerfError(stderr)} (${setting}); ${rootAdvice}${containerAdvice}`
}

/**
 * Finds the first line of perf's stderr that is neither empty nor progress.
 * @param {string} text stderr
 * @returns {string} without a point or colon at its end; `it does not say why`: there is no such line
 */
function findPerfError(text) {
  const line = text
    .split('\n')
    .find(line => /\w/.test(line) && line.trim() !== 'Error:' && !line.startsWith('[ perf record:'))
  return line?.trim().replace(/[.:]$/, '') ?? 'it does not say why'
}

/**
 * Parses the output of perf script.
 * @param {string} text its stdout
 * @returns {{ events: string[], profiles: Map<number, Profile> }} events: the names of the sampled events; profiles:
 *   by process id, their costs are numbers of samples; both are empty without samples
 */
export function parsePerfScript(text) {
  const samples = text.split(/\n\s*\n/).flatMap(block => {
    const [head, ...lines] = block.split('\n').filter(line => line.trim() !== '')
    const [, pid, event] = SAMPLE.exec(head ?? '') ?? []
    return pid === undefined ? [] : [{ pid: Number(pid), event, stack: parseStack(lines) }]
  })
  /** @type {Map<number, Profile>} */
  const profiles = new Map()
  for (const [pid, samplesOfProcess] of groupBy(samples, sample => sample.pid))
    profiles.set(pid, {
      total: samplesOfProcess.length,
      stacks: joinStacks(samplesOfProcess.map(({ stack }) => stack)),
    })
  return { events: [...new Set(samples.map(({ event }) => event))], profiles }
}

/**
 * Parses the stack of a sample. The frames of the kernel are joined into one, the innermost. Lines of another form, and the address at
 * which the copy of the stack was cut off, are left out.
 * @param {string[]} lines of the sample, after its head
 * @returns {Stack} self: 1; object: empty without frames
 */
function parseStack(lines) {
  const frames = lines.flatMap(line => {
    const [, ip, name, object] = FRAME.exec(line) ?? []
    if (ip === undefined || CUT_OFF.test(ip)) return []
    const knownName = name === '[unknown]' ? '???' : name
    return [{ name: knownName, object, isKernel: ip.length === 16 && ip.startsWith('ffff') }]
  })
  const kernel = frames.filter(({ isKernel }) => isKernel).map(({ name }) => name)
  const user = frames.filter(({ isKernel }) => !isKernel).map(({ name }) => shortenName(name))
  if (kernel.length > 0) user.unshift(renderKernelEntry(kernel))
  return { frames: user, object: frames[0]?.object ?? '', self: 1 }
}

/**
 * Renders the outermost system call of a stack, else its outermost function that is not on every way into the kernel (ENTRY), else the
 * innermost, with the mark `_[k]` of flame graphs.
 * @param {string[]} names of the kernel's functions, at least one, the innermost first
 * @returns {string}
 */
function renderKernelEntry(names) {
  const call = names.map(name => SYSTEM_CALL.exec(name)?.[1]).findLast(Boolean)
  return `${call ?? names.findLast(name => !ENTRY.test(name)) ?? names[0]}_[k]`
}
