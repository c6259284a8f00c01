import { closeSync, openSync } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import readline from 'node:readline'
import { listLastLines, renderTail } from '../../lib/log-tail.js'
import { waitForCondition, withTimeout } from '../../lib/wait.js'
import { NOTICE_SECONDS } from './connection.js'
import { parseFarSample } from './samples.js'

/**
 * @import { Handle, ProcessSpec } from '../../model/types.ts'
 * @import { Clock } from './host.js'
 */
/**
 * @import { Connection } from './connection.js'
 * @import { FarSample } from './samples.js'
 */

/**
 * A process on another machine. clock: as measured before the start; samples: its readings so far, to which more are added.
 * @typedef {Handle & { clock: Clock, samples: FarSample[], assertConnected: () => void, stop: () => Promise<void> }} FarProcess
 */

// Longer than NOTICE_SECONDS, so that a lost network is reported first: then the run can be resumed, and the trial has not failed.
const SAMPLE_SECONDS = NOTICE_SECONDS + 5
const STOP_SECONDS = 5
const PRINTED_MOST = 10

/**
 * Starts a process on another machine. Its log is written to a folder here as it comes.
 * @param {{ spec: ProcessSpec, folder: string, connection: Connection, clock: Clock, hostCpus: number }} options
 *   folder: of its log, here; clock: as measured before the start; hostCpus: CPUs there
 * @returns {Promise<FarProcess>} whether it started shows in `ending`
 */
export async function startRemoteProcess({ spec, folder, connection, clock, hostCpus }) {
  await mkdir(folder, { recursive: true })
  const logFile = path.join(folder, `${spec.service}-${spec.role}.log`)
  const log = openSync(logFile, 'w')
  const environment = Object.entries(spec.env).map(([name, value]) => `${name}=${value}`)
  const child = connection.start({ command: ['env', ...environment, spec.program, ...spec.argv], log })
  closeSync(log)

  /** @type {FarSample[]} */
  const samples = []
  /** @type {string[]} */
  const stderrLines = []
  readline.createInterface({ input: child.stderr }).on('line', line => {
    const sample = parseFarSample(line, { epochMs: Date.now() - clock.roundTripMs / 2, hostCpus })
    if (sample) samples.push(sample)
    else stderrLines.push(line)
    if (stderrLines.length > PRINTED_MOST) stderrLines.shift()
  })
  /** @type {string | null} */
  let ending = null
  const exited = child.then(({ exitCode, signal, shortMessage }) => {
    ending = exitCode === undefined ? (signal ? `signal ${signal}` : `${shortMessage}`) : `status ${exitCode}`
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

    async renderFailure(what) {
      await connection.assertKept()
      const words = listLastLines(stderrLines.join('\n'), 2).join(' | ')
      return `${what} on ${connection.host}${words ? `: ${words}` : ''}${renderTail(await readLog(), logFile)}`
    },

    async stop() {
      child.stdin.end()
      await withTimeout(exited, { seconds: STOP_SECONDS, late: () => child.kill('SIGKILL') })
    },
  }
}

/**
 * Waits until there is a reading at a moment or after it, or the process has ended.
 * @param {FarProcess} process
 * @param {number} epochMs by our clock; 0: any reading
 * @throws {import('../../lib/errors.js').SiteLostError} if the connection is lost; {TimeoutError} if no reading comes
 */
export async function awaitSample({ samples, ending, spec, assertConnected }, epochMs) {
  const isRead = () => {
    assertConnected()
    return ending() !== null || (samples.at(-1)?.epochMs ?? 0) >= epochMs
  }
  await waitForCondition(isRead, {
    what: `a reading of ${spec.service} where it runs`,
    deadlineSeconds: SAMPLE_SECONDS,
  })
}
