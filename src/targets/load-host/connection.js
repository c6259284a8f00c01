import { readFileSync } from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { BenchError, SiteLostError } from '../../lib/errors.js'
import { lastLines } from '../../lib/log-tail.js'
import { describeRefusal } from './refusals.js'

/**
 * A connection to another machine by OpenSSH's own client, with its user's configuration and keys. Everything goes over
 * one connection (ControlMaster, ssh_config(5)); a program there ends it all when the connection ends.
 */

/** @typedef {Awaited<ReturnType<typeof openConnection>>} Connection */
/** @typedef {{ exitCode: number | undefined, stdout: string, said: string }} Answer said: on stderr, its last lines */

const KEEP = readFileSync(new URL('keep.sh', import.meta.url), 'utf8')
const RUN = readFileSync(new URL('run.sh', import.meta.url), 'utf8')
const CONNECT_SECONDS = 10
const OPEN_SECONDS = 30
const BEAT_MS = 2000
// So many pings without an answer, and the connection is lost: sooner than the far side ends by itself.
const UNANSWERED_MOST = 5
const SILENT_SECONDS = 20
const CLOSE_SECONDS = 5
/** How long it takes until a network that is silently gone is noticed. */
export const NOTICE_SECONDS = ((UNANSWERED_MOST + 1) * BEAT_MS) / 1000
// ssh ends with it where the connection breaks, or cannot be made (EXIT STATUS, ssh(1)).
const SSH_FAILED = 255

const COMMON = [
  // A run must not wait for somebody to type.
  '-oBatchMode=yes',
  '-oClearAllForwardings=yes',
  '-oRemoteCommand=none',
  '-T',
]

/**
 * @param {{ host: string, folder: string, environment: Record<string, string>, signal: AbortSignal, beatMs?: number }} options
 *   host: as for ssh; folder: of this user alone, for the socket; environment: beside ours; beatMs: from ping to ping
 * @throws {BenchError} where there is none: why, and what to do
 */
export async function openConnection({ host, folder, environment, signal, beatMs = BEAT_MS }) {
  signal.throwIfAborted()
  const socket = path.join(folder, 'ssh')
  // Its refusals are told from each other by their words.
  const env = { ...environment, LC_ALL: 'C' }
  // A process group of its own: a Ctrl-C of the terminal reaches only us, and we end it in order.
  const spawned = /** @type {const} */ ({ env, detached: true, cleanup: false, reject: false, buffer: false })
  const master = execa(
    'ssh',
    [
      ...COMMON,
      `-oConnectTimeout=${CONNECT_SECONDS}`,
      ...['-oControlMaster=yes', '-oControlPersist=no', '-S', socket, '--', host],
      commandOf(['/bin/sh', '-c', KEEP, 'keep', `${SILENT_SECONDS}`]),
    ],
    { ...spawned, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' },
  )
  // Of another connection than this one's there is none: where this one is gone, ssh would make its own.
  const inside = [...COMMON, '-oProxyCommand=false', '-oControlMaster=no', '-S', socket, '--', host]
  let said = ''
  master.stderr.setEncoding('utf8').on('data', text => {
    said = (said + text).slice(-4000)
  })
  master.stdin.on('error', () => {})
  /** @type {((line: string | null) => void)[]} */
  const asked = []
  let isOpen = true
  let isClosing = false
  const ended = master.then(({ code }) => {
    isOpen = false
    for (const answer of asked.splice(0)) answer(null)
    return code === 'ENOENT' ? 'ENOENT' : lastLines(said, 3).join(' | ')
  })
  const there = await awaitReady()
  const lines = readline.createInterface({ input: master.stdout })
  let unanswered = 0
  lines.on('line', line => {
    unanswered = 0
    asked.shift()?.(line)
  })
  // Counted, not timed: this program may have been stopped for a while, with the answers waiting.
  const beating = setInterval(() => {
    if (!isOpen) return
    if (unanswered === UNANSWERED_MOST) {
      said = `${unanswered} pings went unanswered`
      master.kill('SIGKILL')
    } else void ask('ping').catch(() => {})
    unanswered++
  }, beatMs)
  beating.unref()

  return {
    host,
    /** Of the run there; it goes with the connection. */
    folder: there,

    ask,
    assertOpen,

    /**
     * Runs a program there to its end.
     * @param {string[]} command
     * @param {{ input?: import('node:stream').Readable }} [options] input: its stdin
     * @returns {Promise<Answer>}
     */
    async run(command, { input } = {}) {
      assertOpen()
      const { exitCode, stdout, stderr } = await execa('ssh', [...inside, commandOf(command)], {
        ...{ env, detached: true, cleanup: false, reject: false },
        ...{ ...(input ? { input } : { stdin: /** @type {const} */ ('ignore') }), cancelSignal: signal },
      })
      signal.throwIfAborted()
      if (exitCode === SSH_FAILED) await assertKept()
      return { exitCode, stdout, said: lastLines(stderr, 3).join(' | ') }
    },

    /**
     * Starts a program there that ends when its stdin closes.
     * @param {{ command: string[], log: number }} options log: an open file for what it prints
     */
    start({ command, log }) {
      assertOpen()
      const child = execa('ssh', [...inside, commandOf(['/bin/sh', '-c', RUN, 'run', there, ...command])], {
        ...spawned,
        // Its types know the first three descriptors only.
        ...{ stdin: 'pipe', stdout: /** @type {1} */ (log), stderr: 'pipe' },
      })
      child.stdin.on('error', () => {})
      return child
    },

    assertKept,

    /** Ends everything there, and removes the folder. */
    async close() {
      isClosing = true
      clearInterval(beating)
      master.stdin.end()
      const closing = new AbortController()
      const late = delay(CLOSE_SECONDS * 1000, true, { signal: closing.signal }).catch(() => false)
      if (await Promise.race([ended.then(() => false), late])) master.kill('SIGKILL')
      closing.abort()
    },
  }

  /** @returns {Promise<string>} the folder there */
  async function awaitReady() {
    const timer = setTimeout(() => master.kill('SIGKILL'), OPEN_SECONDS * 1000)
    const stop = () => master.kill('SIGKILL')
    signal.addEventListener('abort', stop)
    try {
      // A login shell may print before it.
      let text = ''
      for await (const chunk of master.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
        text += chunk
        const [, found] = /^sidecar-bench ready (\/.*)\n/m.exec(text) ?? []
        if (found) return found
      }
      const why = await ended
      signal.throwIfAborted()
      throw new BenchError(describeRefusal(host, why))
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
    }
  }

  /** What the program there answers to a word. @param {'ping' | 'time'} word @returns {Promise<string>} */
  async function ask(word) {
    assertOpen()
    const answer = await new Promise(resolve => {
      asked.push(resolve)
      master.stdin.write(`${word}\n`)
    })
    if (answer === null) assertOpen()
    return answer
  }

  /** Where a program there ended with the connection, this one is heard to be lost a moment later. */
  async function assertKept() {
    const waiting = new AbortController()
    await Promise.race([ended, delay(1000, undefined, { signal: waiting.signal }).catch(() => {})])
    waiting.abort()
    assertOpen()
  }

  /** @throws {SiteLostError} */
  function assertOpen() {
    if (isOpen || isClosing) return
    const why = lastLines(said, 2).join(' | ')
    throw new SiteLostError(
      `the connection to ${host} was lost${why ? `: ${why}` : ''}; what made the load there ends by itself within ${SILENT_SECONDS} s; when ${host} answers again, npm run bench -- --resume goes on`,
    )
  }
}

/** A command for the shell there, whatever is in its words. @param {string[]} words */
export function commandOf(words) {
  return `exec ${words.map(word => `'${word.replaceAll("'", "'\\''")}'`).join(' ')}`
}
