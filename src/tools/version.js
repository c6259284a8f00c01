import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { callSafely } from '../lib/call-safely.js'
import { listLastLines } from '../lib/log-tail.js'
import { findNoexecMount } from '../lib/mounts.js'

/** @import { ToolSpec } from '../model/types.ts' */

const DRAIN_MS = 300
// A slow machine takes half a minute to load Envoy's 100 MB; only a program that hangs takes longer than this.
const DEADLINE_SECONDS = 60
const PRINTED_CHARACTERS_MOST = 65_536
const OUTPUT_LINES = 3

/**
 * The answer of a program that was run for its version.
 * @typedef {object} VersionAnswer
 * @property {string | null} version null: none was printed
 * @property {string} [library] the TLS library; absent: the spec reads none, or none was printed
 * @property {boolean} hasFailed it did not start, exited with another code than 0, or was ended by a signal that is not the kit's
 * @property {string} output the last lines that it printed, or why it did not start, and then whether the time ran out; empty: it
 *   printed nothing
 */

/**
 * Runs a program for its version, and kills it and all that it started as soon as that is printed: Pipy 1.5 sometimes hangs
 * at its exit. A program that does not start, or prints no version in time, is an answer, too.
 * @param {ToolSpec} spec
 * @param {string} program its path
 * @param {{ signal?: AbortSignal, deadlineSeconds?: number }} [options]
 * @returns {Promise<VersionAnswer>}
 * @throws the signal's reason if it aborts
 */
export async function runForVersion(spec, program, options = {}) {
  const { signal, deadlineSeconds = DEADLINE_SECONDS } = options
  signal?.throwIfAborted()
  const deadline = AbortSignal.timeout(deadlineSeconds * 1000)
  const ending = signal ? AbortSignal.any([signal, deadline]) : deadline
  const { text, hasFailed, startFailure = '' } = await runUntilPrinted(spec, program, ending)
  signal?.throwIfAborted()
  const version = spec.parseVersion(text)
  const output = listLastLines(text, OUTPUT_LINES).join(' | ') || startFailure
  if (version !== null || !deadline.aborted) return { version, ...parseTlsLibrary(spec, text), hasFailed, output }
  const lateOutput = `${output || 'it printed nothing'}, and did not end within ${deadlineSeconds} s`
  return { version, hasFailed, output: lateOutput }
}

/**
 * Runs a program until it has printed its version or more than PRINTED_CHARACTERS_MOST, it has ended, or the signal aborts. Then
 * its process group is killed.
 * @param {ToolSpec} spec
 * @param {string} program its path
 * @param {AbortSignal} ending
 * @returns {Promise<{ text: string, hasFailed: boolean, startFailure?: string }>} text: what it printed on both streams; hasFailed:
 *   it did not start, exited with another code than 0, or was ended by a signal that is not the kit's; startFailure: absent: it
 *   started
 */
function runUntilPrinted(spec, program, ending) {
  let text = ''
  return new Promise(resolve => {
    // The program leads a process group, so that all it starts can be killed with it.
    const child = spawnSafely(program, spec.versionArgv)
    if (child instanceof Error)
      return resolve({ text, hasFailed: true, startFailure: renderStartFailure(program, child) })
    const end = (/** @type {{ hasFailed: boolean, startFailure?: string }} */ result) => {
      if (child.exitCode === null && child.signalCode === null) killGroup(child.pid)
      // A process that left the group is not killed, and would hold these streams open.
      child.stdout.destroy()
      child.stderr.destroy()
      resolve({ text, ...result })
    }
    ending.addEventListener('abort', () => end({ hasFailed: false }))
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', chunk => {
        text += chunk
        if (isVersionPrinted(spec, text) || text.length > PRINTED_CHARACTERS_MOST) end({ hasFailed: false })
      })
    child.on('error', error => end({ hasFailed: true, startFailure: renderStartFailure(program, error) }))
    child.on('exit', code => {
      killGroup(child.pid)
      // `close` never comes if a process that left the group holds the streams open; after DRAIN_MS all that was printed is read.
      setTimeout(() => end({ hasFailed: code !== 0 }), DRAIN_MS)
    })
    child.on('close', code => end({ hasFailed: code !== 0 }))
  })
}

/**
 * Says whether a program has printed its version, and its library if the spec reads one.
 * @param {ToolSpec} spec
 * @param {string} text that it printed so far
 * @returns {boolean}
 */
export function isVersionPrinted({ parseVersion, parseLibrary }, text) {
  return parseVersion(text) !== null && (!parseLibrary || parseLibrary(text) !== null)
}

/**
 * Parses the TLS library of a program.
 * @param {ToolSpec} spec
 * @param {string} text that the program printed
 * @returns {{ library?: string }} {}: the library is a part of the program, or was not printed
 */
export function parseTlsLibrary(spec, text) {
  const library = spec.parseLibrary?.(text)
  return library ? { library } : {}
}

/**
 * Renders the reason why a program did not start, and what to do; the message of the error if the reason is not known.
 * @param {string} program its path
 * @param {NodeJS.ErrnoException} error of its start
 */
function renderStartFailure(program, { code, message }) {
  const stat = callSafely(() => statSync(program, { throwIfNoEntry: false }), undefined)
  if (stat?.isDirectory()) return 'it is a folder, and no program'
  if (!stat) return code === 'ENOENT' ? 'there is no such file' : message
  if (code === 'ENOENT') return 'it names an interpreter or loader that is not here'
  if (code === 'EACCES') {
    const mount = findNoexecMount(program)
    return mount === null
      ? 'it may not be executed: chmod +x'
      : `no program of ${mount} may be executed, which is mounted with noexec: put it elsewhere`
  }
  return code === 'ENOEXEC' ? 'it is no program for this machine' : message
}

/**
 * Spawns a program in a process group of its own.
 * @param {string} program its path
 * @param {string[]} argv
 * @returns the process; the error of a file that is no program, for which spawn throws at once
 */
function spawnSafely(program, argv) {
  try {
    return spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  } catch (error) {
    return /** @type {Error} */ (error)
  }
}

/**
 * Kills a process group, if it can be killed: it may have ended, or be another user's.
 * @param {number | undefined} pid of its first process; undefined: that was never started
 */
function killGroup(pid) {
  if (pid !== undefined) callSafely(() => process.kill(-pid, 'SIGKILL'), null)
}
