import { spawn } from 'node:child_process'
import path from 'node:path'
import { SiteLostError } from '../../lib/errors.js'
import { ROOT } from '../../lib/paths.js'
import { withTimeout } from '../../lib/wait.js'
import { createProber } from '../../node/prober.js'
import { startSession } from '../converse.js'
import { killProcess, renderMarks } from './marks.js'

/** @import { Session } from '../converse.js' */

const AGENT = path.join(ROOT, 'src/agent/main.js')
const STDERR_MOST = 2000
const CLOSE_SECONDS = 5
// Says whether a procedure runs in a rig's agent. All others stay outside: `lab --watch` starts services during the corpus, and their
// calls continue after it.
const isOfCorpus = (/** @type {string} */ procedure) => /^(open$|close$|probe)/.test(procedure)

/**
 * Creates the prober of this machine. From `open` to `close`, the procedures of a rig's parity corpus run in a
 * process of their own: the corpus leaves a hundred MiB behind, which would count as the kit's in every window. If
 * services have network namespaces, a process in one of these runs the other procedures.
 * @param {{ runId: string, enter?: () => string[] | null }} options enter: creates the argv that enters the
 *   namespace; null: services are reached from here
 * @returns {{ call: import('../../model/types.ts').Target['call'], close: () => void }} close: ends the process in the namespace
 */
export function createLocalProber({ runId, enter = () => null }) {
  const prober = createProber()
  /** @type {Session | null} */
  let agentInside = null
  /** Agents by the number of their rig. @type {Map<number, Session & { ended: Promise<string> }>} */
  const sessions = new Map()
  const end = async (/** @type {number} */ rig) => {
    const session = sessions.get(rig)
    session?.close()
    await session?.ended
    sessions.delete(rig)
  }
  /** @type {import('../../model/types.ts').Target['call']} */
  const call = async (procedure, args, { rig = 0, signal } = {}) => {
    const entering = enter()
    if (procedure === 'open') sessions.set(rig, startAgent({ runId, enter: entering ?? [] }))
    const session = sessions.get(rig)
    if (session === undefined && procedure === 'close') return /** @type {any} */ (undefined)
    if (session === undefined && isOfCorpus(procedure)) throw new Error('the rig is not open')
    if (session === undefined || !isOfCorpus(procedure)) {
      if (entering === null) return /** @type {any} */ (prober)[procedure](args, signal)
      if (!agentInside?.isOpen()) agentInside = startAgent({ runId, enter: entering })
      return /** @type {any} */ (agentInside.call(procedure, args, { signal }))
    }
    // Another call may close the session before the answer.
    const { call: ask, isOpen } = session
    const answer = ask(procedure, args, { signal })
    if (procedure === 'close') {
      // A stopped agent never answers; the failure of an agent has been reported.
      const settled = answer.catch(() => {})
      await withTimeout(settled, { seconds: CLOSE_SECONDS, late: () => {} })
      return /** @type {any} */ (end(rig))
    }
    try {
      return /** @type {any} */ (await answer)
    } catch (error) {
      // The loss of an agent is no result of a plane, so the run ends.
      if (!isOpen()) throw new SiteLostError(/** @type {Error} */ (error).message, { cause: error })
      if (procedure === 'open') await end(rig)
      throw error
    }
  }
  return { call, close: () => agentInside?.close() }
}

/**
 * Starts an agent in a process of its own.
 * @param {{ runId: string, enter: string[] }} options enter: argv prefix that enters a namespace; []: none
 * @returns {Session & { ended: Promise<string> }} ended: resolves with the last lines of its stderr, or the error if
 *   it could not be started
 */
function startAgent({ runId, enter }) {
  const [program, ...argv] = [...enter, process.execPath, AGENT]
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
  return { ...startSession({ stdin, stdout, closed: ended, what: `process ${pid}`, end }), ended }
}
