import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import readline from 'node:readline'
import { listLastLines, renderTail } from '../../lib/log-tail.js'
import { waitForCondition, withTimeout } from '../../lib/wait.js'
import { withOpenFile } from '../../lib/with-open-file.js'
import { NOTICE_SECONDS } from './connection.js'
import { parseRemoteSample } from './samples.js'

/**
 * @import { Handle, ProcessSpec } from '../../model/types.ts'
 * @import { Connection } from './connection.js'
 * @import { Clock } from './host.js'
 * @import { RemoteSample } from './samples.js'
 */

/**
 * @typedef {object} OnLoadHost
 * @property {Clock} clock as measured before the start
 * @property {RemoteSample[]} samples the readings so far, to which more are added
 * @property {() => void} assertConnected throws a SiteLostError if the connection is lost
 * @property {() => Promise<void>} stop kills the process
 */
/** A process on another machine. @typedef {Handle & OnLoadHost} RemoteProcess */

// This is longer than NOTICE_SECONDS, so that a lost network is reported first: then the run can be resumed, and the trial has not
// failed.
const SAMPLE_SECONDS = NOTICE_SECONDS + 5
const STOP_SECONDS = 5
// Lines of stderr that are kept for errors.
const LINES_MOST = 10

/**
 * Starts a process on another machine. Its log is written to a folder here as it comes.
 * @param {object} options
 * @param {ProcessSpec} options.spec
 * @param {string} options.folder of its log, here
 * @param {Connection} options.connection
 * @param {Clock} options.clock as measured before the start
 * @param {number} options.hostCpus CPUs there
 * @returns {Promise<RemoteProcess>} `ending` shows whether it started; it counts as ready at once, and never as out of memory
 * @throws {SiteLostError} if the connection is lost; the system's error if the log cannot be created
 */
export async function startRemoteProcess({ spec, folder, connection, clock, hostCpus }) {
  await mkdir(folder, { recursive: true })
  const logFile = path.join(folder, `${spec.service}-${spec.role}.log`)
  const child = startProgram(connection, { spec, logFile })

  /** @type {RemoteSample[]} */
  const samples = []
  /** @type {string[]} */
  const stderrLines = []
  readline.createInterface({ input: child.stderr }).on('line', line => {
    const sample = parseRemoteSample(line, { epochMs: Date.now() - clock.roundTripMs / 2, hostCpus })
    if (sample) samples.push(sample)
    else stderrLines.push(line)
    if (stderrLines.length > LINES_MOST) stderrLines.shift()
  })
  /** @type {string | null} */
  let ending = null
  const exited = child.then(result => {
    ending = renderEnding(result)
    return ending
  })
  const readLog = () => readFile(logFile, 'utf8')

  return {
    spec,
    clock,
    clockAheadMs: clock.aheadMs,
    samples,
    assertConnected: connection.assertOpen,
    exited,
    ending: () => ending,
    isOutOfMemory: () => false,
    isStopped: () => samples.at(-1)?.isStopped ?? false,
    readAdmin: async () => null,
    waitUntilReady: async () => {},
    readLog,

    async renderFailure(failure) {
      await connection.assertKept()
      const words = listLastLines(stderrLines.join('\n'), 2).join(' | ')
      return `${failure} on ${connection.host}${words ? `: ${words}` : ''}${renderTail(await readLog(), logFile)}`
    },

    async stop() {
      child.stdin.end()
      await withTimeout(exited, { seconds: STOP_SECONDS, late: () => child.kill('SIGKILL') })
    },
  }
}

/**
 * Starts the program of a process on the load host. Its stdout goes to a log file on this machine; its stderr, with the samples, to
 * the caller.
 * @param {Connection} connection
 * @param {{ spec: ProcessSpec, logFile: string }} options
 * @returns {ReturnType<Connection['start']>}
 * @throws as `startRemoteProcess`
 */
function startProgram(connection, { spec: { env, program, argv }, logFile }) {
  const environment = Object.entries(env).map(([name, value]) => `${name}=${value}`)
  const command = ['env', ...environment, program, ...argv]
  return withOpenFile(logFile, 'w', log => connection.start({ command, log }))
}

/**
 * Renders how ssh ended; it ends with the status of the program that it has run.
 * @param {{ exitCode?: number, signal?: string, shortMessage?: string }} result of execa
 * @returns {string} `status N`, `signal N`, or the error if ssh did not start
 */
function renderEnding({ exitCode, signal, shortMessage }) {
  if (exitCode !== undefined) return `status ${exitCode}`
  return signal ? `signal ${signal}` : `${shortMessage}`
}

/**
 * Waits until there is a reading of a moment or after it, or the process has ended.
 * @param {RemoteProcess} process
 * @param {number} epochMs by our clock; 0: any reading
 * @throws {SiteLostError} if the connection is lost; {TimeoutError} if no reading comes in SAMPLE_SECONDS
 */
export async function awaitSample({ samples, ending, spec, assertConnected }, epochMs) {
  const isRead = () => {
    assertConnected()
    const latest = samples.at(-1)
    return ending() !== null || (latest !== undefined && latest.epochMs >= epochMs)
  }
  await waitForCondition(isRead, {
    what: `a reading of ${spec.service} where it runs`,
    deadlineSeconds: SAMPLE_SECONDS,
  })
}
