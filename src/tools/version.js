import { spawn } from 'node:child_process'
import { statSync } from 'node:fs'
import { callSafely } from '../lib/call-safely.js'
import { listLastLines } from '../lib/log-tail.js'
import { findNoexec } from '../lib/mounts.js'

/** @import { ToolSpec } from '../model/types.ts' */

const DRAIN_MS = 300
// A slow machine takes half a minute to load Envoy's 100 MB; only a program that hangs takes longer than this.
const DEADLINE_SECONDS = 60
const PRINTED_MOST = 65_536
const LINES = 3

/**
 * What a program said of its version.
 * @typedef {object} VersionOutput
 * @property {string | null} version null: none was printed
 * @property {string} [library] the TLS library, if the spec reads one
 * @property {boolean} failed it did not start, or its exit code is not 0
 * @property {string} said its last lines, or why it did not start
 */

/**
 * Runs a program for its version, and kills it and all that it started as soon as that is printed: Pipy 1.5 sometimes hangs
 * at its exit. A program that does not start, or prints no version in time, is an answer, too.
 * @param {ToolSpec} spec
 * @param {string} program its path
 * @param {{ signal?: AbortSignal, deadlineSeconds?: number }} [options]
 * @returns {Promise<VersionOutput>}
 * @throws the signal's reason
 */
export async function askVersion(spec, program, options = {}) {
  const { signal, deadlineSeconds = DEADLINE_SECONDS } = options
  signal?.throwIfAborted()
  const deadline = AbortSignal.timeout(deadlineSeconds * 1000)
  const ending = signal ? AbortSignal.any([signal, deadline]) : deadline
  let printed = ''
  /** @type {Promise<{ failed: boolean, why?: string }>} */
  const ended = new Promise(resolve => {
    // The program leads a process group, so that all it starts can be killed with it.
    const child = spawnSafely(program, spec.versionArgv)
    if (child instanceof Error) return resolve({ failed: true, why: renderStartFailure(program, child) })
    const end = (/** @type {{ failed: boolean, why?: string }} */ how) => {
      if (child.exitCode === null && child.signalCode === null) killGroup(child.pid)
      // A process that left the group is not killed, and would hold these streams open.
      child.stdout.destroy()
      child.stderr.destroy()
      resolve(how)
    }
    ending.addEventListener('abort', () => end({ failed: false }))
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', text => {
        printed += text
        if (isVersionPrinted(spec, printed) || printed.length > PRINTED_MOST) end({ failed: false })
      })
    child.on('error', error => end({ failed: true, why: renderStartFailure(program, error) }))
    child.on('exit', code => {
      killGroup(child.pid)
      // If a process that left the group holds the outputs open, `close` never comes: by then all that was printed has.
      setTimeout(() => end({ failed: code !== 0 }), DRAIN_MS)
    })
    child.on('close', code => end({ failed: code !== 0 }))
  })
  const { failed, why = '' } = await ended
  signal?.throwIfAborted()
  const version = spec.parseVersion(printed)
  const said = listLastLines(printed, LINES).join(' | ') || why
  if (version !== null || !deadline.aborted) return { version, ...readLibrary(spec, printed), failed, said }
  const late = `${said || 'it printed nothing'}, and did not end within ${deadlineSeconds} s`
  return { version, failed, said: late }
}

/**
 * Says whether a program has printed its version, and its library if the spec reads one.
 * @param {ToolSpec} spec
 * @param {string} text
 * @returns {boolean}
 */
export function isVersionPrinted({ parseVersion, parseLibrary }, text) {
  return parseVersion(text) !== null && (!parseLibrary || parseLibrary(text) !== null)
}

/**
 * Reads the TLS library as a member of an answer.
 * @param {ToolSpec} spec
 * @param {string} text that the program printed
 * @returns {{ library?: string }} absent: it is a part of the program, or was not printed
 */
export function readLibrary(spec, text) {
  const library = spec.parseLibrary?.(text)
  return library ? { library } : {}
}

/**
 * Renders why a program did not start, in words that say what to do.
 * @param {string} program its path
 * @param {NodeJS.ErrnoException} error of its start
 */
function renderStartFailure(program, { code, message }) {
  const stat = statSync(program, { throwIfNoEntry: false })
  if (stat?.isDirectory()) return 'it is a folder, and no program'
  if (!stat) return code === 'ENOENT' ? 'there is no such file' : message
  if (code === 'ENOENT') return 'it names an interpreter or loader that is not here'
  if (code === 'EACCES') {
    const mount = findNoexec(program)
    return mount === null
      ? 'it may not be executed: chmod +x'
      : `no program of ${mount} may be executed, which is mounted with noexec: put it elsewhere`
  }
  return code === 'ENOEXEC' ? 'it is no program for this machine' : message
}

/**
 * Spawns a program. It returns the error of a file that is no program, for which spawn throws at once.
 * @param {string} program
 * @param {string[]} argv
 */
function spawnSafely(program, argv) {
  try {
    return spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  } catch (error) {
    return /** @type {Error} */ (error)
  }
}

/** @param {number | undefined} pid of the group's first process; undefined: it was never started */
function killGroup(pid) {
  // The process may have ended, or be another user's.
  if (pid !== undefined) callSafely(() => process.kill(-pid, 'SIGKILL'), null)
}
