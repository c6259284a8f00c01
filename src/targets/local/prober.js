import { spawn } from 'node:child_process'
import path from 'node:path'
import { SiteLostError } from '../../lib/errors.js'
import { killProcess } from '../../lib/kill-process.js'
import { ROOT } from '../../lib/paths.js'
import { withTimeout } from '../../lib/wait.js'
import { createProber } from '../../node/prober.js'
import { startSession } from '../agent-session.js'
import { renderMarks } from './marks.js'

/**
 * @import { Target } from '../../model/types.ts'
 * @import { Session } from '../agent-session.js'
 */

const AGENT = path.join(ROOT, 'src/agent/main.js')
const STDERR_MOST = 2000
const CLOSE_SECONDS = 5

/**
 * An agent in a process of this machine. `ended` resolves when the process has ended, with the last characters of its stderr, or the
 * signal or error that ended it; empty: it ended by itself and printed nothing.
 * @typedef {Session & { ended: Promise<string> }} LocalAgent
 */

/**
 * Creates the prober of this machine. From `open` to `close`, the procedures of a rig's parity corpus run in a
 * process of their own: the corpus leaves a hundred MiB behind, which would count as the kit's in every window. If
 * services have network namespaces, a process in one of these runs the other procedures.
 * @param {{ runId: string, createEnterArgv?: () => string[] | null }} options createEnterArgv: creates the argv that enters the
 *   namespace; null: services are reached from here
 * @returns {{ call: Target['call'], close: () => void }} call: rejects as the procedure or its session, with a SiteLostError if the
 *   agent of a rig is lost, and with an Error if the rig is not open (its `close` does nothing then); close:
 *   ends the process in the namespace, but no rigs
 */
export function createLocalProber({ runId, createEnterArgv = () => null }) {
  const prober = createProber()
  /** @type {LocalAgent | null} */
  let agentInNamespace = null
  /** Agents by the number of their rig. @type {Map<number, LocalAgent>} */
  const rigAgents = new Map()

  /** @type {(procedure: string, args: unknown, signal: AbortSignal | undefined) => Promise<unknown>} */
  const callOutsideOfRigs = async (procedure, args, signal) => {
    const enterArgv = createEnterArgv()
    if (enterArgv === null) return /** @type {any} */ (prober)[procedure](args, signal)
    if (!agentInNamespace?.isOpen()) agentInNamespace = startAgent({ runId, enterArgv })
    return agentInNamespace.call(procedure, args, { signal })
  }
  const endRig = async (/** @type {number} */ rig) => {
    const agent = rigAgents.get(rig)
    agent?.close()
    await agent?.ended
    rigAgents.delete(rig)
  }
  /** @type {(rig: number, procedure: string, args: unknown, signal: AbortSignal | undefined) => Promise<unknown>} */
  const callInRig = async (rig, procedure, args, signal) => {
    if (procedure === 'open') rigAgents.set(rig, startAgent({ runId, enterArgv: createEnterArgv() ?? [] }))
    const agent = rigAgents.get(rig)
    if (agent === undefined && procedure === 'close') return undefined
    if (agent === undefined) throw new Error('the rig is not open')
    const answer = agent.call(procedure, args, { signal })
    if (procedure === 'close') {
      // The wait has a limit, since an agent stopped by SIGSTOP never answers. Its error is dropped: the rig is being removed.
      const settled = answer.catch(() => {})
      await withTimeout(settled, { seconds: CLOSE_SECONDS, late: () => {} })
      return endRig(rig)
    }
    try {
      return await answer
    } catch (error) {
      // The loss of an agent is no result of a plane, so the run ends.
      if (!agent.isOpen()) throw new SiteLostError(/** @type {Error} */ (error).message, { cause: error })
      if (procedure === 'open') await endRig(rig)
      throw error
    }
  }
  return {
    async call(procedure, args, { rig = 0, signal } = {}) {
      const result = isCorpusProcedure(procedure)
        ? callInRig(rig, procedure, args, signal)
        : callOutsideOfRigs(procedure, args, signal)
      return /** @type {any} */ (await result)
    },
    close: () => agentInNamespace?.close(),
  }
}

/**
 * Says whether a procedure runs in a rig's agent. All others stay outside: `lab --watch` starts services during the corpus, and
 * their calls continue after it.
 * @param {string} procedure
 * @returns {boolean}
 */
function isCorpusProcedure(procedure) {
  return /^(open$|close$|probe)/.test(procedure)
}

/**
 * Starts an agent in a process group of its own, which is killed when the agent exits or the session is closed.
 * @param {{ runId: string, enterArgv: string[] }} options enterArgv: prefix that enters a namespace; []: none
 * @returns {LocalAgent} if it does not start, `ended` has the error, and its calls reject
 */
function startAgent({ runId, enterArgv }) {
  const [program, ...argv] = [...enterArgv, process.execPath, AGENT]
  const agent = spawn(program, argv, {
    env: { PATH: process.env.PATH, ...renderMarks({ runId }) },
    stdio: ['pipe', 'pipe', 'pipe'],
    // The agent has a process group of its own: a Ctrl-C of the terminal reaches only this process, which ends the agent in order.
    detached: true,
  })
  let stderrTail = ''
  agent.stderr.setEncoding('utf8').on('data', text => {
    stderrTail = (stderrTail + text).slice(-STDERR_MOST)
  })
  // Writing to an agent that has ended fails; its calls reject by themselves.
  agent.stdin.on('error', () => {})
  /** @type {Promise<string>} */
  const ended = new Promise(resolve => {
    agent.once('error', error => resolve(error.message))
    agent.once('close', (_, killedBy) => resolve(stderrTail.trim() || (killedBy ? `it ended by ${killedBy}` : '')))
  })
  const { stdin, stdout, pid } = agent
  // An upstream that the agent started and that stopped itself (SIGSTOP) would outlive it.
  const end = () => pid && killProcess(-pid)
  agent.once('exit', end)
  return { ...startSession({ stdin, stdout, ended, place: `process ${pid}`, end }), ended }
}
