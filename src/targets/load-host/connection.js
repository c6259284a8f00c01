import { readFileSync } from 'node:fs'
import path from 'node:path'
import readline from 'node:readline'
import { execa } from 'execa'
import { BenchError, SiteLostError } from '../../lib/errors.js'
import { listLastLines } from '../../lib/log-tail.js'
import { quoteWord } from '../../lib/quote-word.js'
import { renderCommand } from '../../lib/render-command.js'
import { withTimeout } from '../../lib/wait.js'

/**
 * A connection to another machine by OpenSSH's own client, with its user's configuration and keys. Everything goes over
 * one connection (ControlMaster, ssh_config(5)); a program there (keep.sh) ends everything when the connection ends.
 */

/** @typedef {Awaited<ReturnType<typeof openConnection>>} Connection */
/** @typedef {{ exitCode: number | undefined, stdout: string, said: string }} Answer said: the last lines of stderr */
/** @typedef {{ said: RegExp, why: string, advice: (host: string) => string }} Refusal said: matches what ssh prints */

const KEEP = readFileSync(new URL('keep.sh', import.meta.url), 'utf8')
const RUN = readFileSync(new URL('run.sh', import.meta.url), 'utf8')
const CONNECT_SECONDS = 10
const OPEN_SECONDS = 30
const BEAT_MS = 2000
// The connection is lost after this number of pings without an answer: before keep.sh ends by itself, after SILENT_SECONDS.
const UNANSWERED_MOST = 5
const SILENT_SECONDS = 20
const CLOSE_SECONDS = 5
/** The time until the loss of a silent network is noticed. */
export const NOTICE_SECONDS = ((UNANSWERED_MOST + 1) * BEAT_MS) / 1000
// ssh's exit status when the connection breaks, or cannot be made (EXIT STATUS, ssh(1)).
const SSH_FAILED = 255
// BatchMode: a run must not wait for somebody to type.
const COMMON = ['-oBatchMode=yes', '-oClearAllForwardings=yes', '-oRemoteCommand=none', '-T']
// ssh has a process group of its own: a Ctrl-C of the terminal reaches only this process, which ends ssh in order.
const OWN_GROUP = /** @type {const} */ ({ detached: true, cleanup: false, reject: false })
const PIPED = /** @type {const} */ ({ buffer: false, stdin: 'pipe', stdout: 'pipe', stderr: 'pipe' })

/** @typedef {import('execa').ResultPromise<typeof OWN_GROUP & typeof PIPED>} Master */

/** @type {Refusal[]} */
const REFUSALS = [
  {
    said: /^ENOENT$/,
    why: 'there is no ssh here',
    advice: () => 'install the OpenSSH client (apt install openssh-client)',
  },
  {
    said: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/,
    why: 'its host key is another than the one that ssh knows',
    advice: host => `if that is right, forget the old one with ssh-keygen -R, and accept the new one with: ssh ${host}`,
  },
  {
    said: /Host key verification failed|No .* host key is known/,
    why: 'ssh does not know its host key',
    advice: host => `look at it, and accept it with: ssh ${host}`,
  },
  {
    said: /Permission denied|Too many authentication failures/,
    why: 'it accepts none of the keys that ssh has without asking',
    advice: host => `give it one with ssh-copy-id ${host}, or unlock yours with ssh-add`,
  },
  {
    said: /Could not resolve hostname/,
    why: 'its name is unknown',
    advice: () => 'name it as in ssh, or give it an address in ~/.ssh/config',
  },
  {
    said: /Connection refused|timed out|No route to host|Network is unreachable/,
    why: 'it cannot be reached',
    advice: host => `see that sshd runs there, and try: ssh ${host}`,
  },
]

/**
 * @typedef {object} ConnectionOptions
 * @property {string} host as for ssh
 * @property {string} folder for the socket, which only this user can access
 * @property {Record<string, string>} environment of ssh, beside ours
 * @property {AbortSignal} signal aborts every command
 * @property {number} [beatMs] the interval between pings; BEAT_MS by default
 */

/**
 * Connects to another machine, and creates a folder there for the run.
 * @param {ConnectionOptions} options
 * @returns run: runs a program there to its end; start: starts one; folder: that of the run there; ask, assertOpen,
 *   assertKept, close: of the connection (`keepConnection`)
 * @throws {BenchError} if there is no connection, with the reason and advice; the signal's reason when it aborts
 */
export async function openConnection({ host, folder, environment, signal, beatMs = BEAT_MS }) {
  signal.throwIfAborted()
  const destination = ['-S', path.join(folder, 'ssh'), '--', host]
  // REFUSALS match the messages of ssh in English.
  const env = { ...environment, LC_ALL: 'C' }
  const options = [`-oConnectTimeout=${CONNECT_SECONDS}`, '-oControlMaster=yes', '-oControlPersist=no']
  const holding = renderShellCommand(['/bin/sh', '-c', KEEP, 'keep', `${SILENT_SECONDS}`])
  const master = execa('ssh', [...COMMON, ...options, ...destination, holding], { ...OWN_GROUP, ...PIPED, env })
  const kept = await keepConnection(master, { host, signal, beatMs })
  // If this connection is lost, ssh must fail instead of opening another: a proxy of `false` ends at once.
  const inside = [...COMMON, '-oProxyCommand=false', '-oControlMaster=no', ...destination]
  return {
    host,
    ...kept,

    /**
     * Runs a program there to its end, whatever its exit code.
     * @param {string[]} command its argv
     * @param {{ input?: import('node:stream').Readable }} [options] input: its stdin; absent: none
     * @returns {Promise<Answer>}
     * @throws {SiteLostError} if the connection is lost; the signal's reason when it aborts
     */
    async run(command, { input } = {}) {
      kept.assertOpen()
      const stdin = input ? { input } : { stdin: /** @type {const} */ ('ignore') }
      const options = { ...OWN_GROUP, ...stdin, env, cancelSignal: signal }
      const { exitCode, stdout, stderr } = await execa('ssh', [...inside, renderShellCommand(command)], options)
      signal.throwIfAborted()
      if (exitCode === SSH_FAILED) await kept.assertKept()
      return { exitCode, stdout, said: listLastLines(stderr, 3).join(' | ') }
    },

    /**
     * Starts a program that run.sh kills when stdin closes.
     * @param {{ command: string[], log: number }} options command: its argv; log: the file descriptor for its output
     * @returns the process of ssh; its stderr has the readings
     * @throws {SiteLostError} if the connection is lost
     */
    start({ command, log }) {
      kept.assertOpen()
      const child = execa(
        'ssh',
        [...inside, renderShellCommand(['/bin/sh', '-c', RUN, 'run', kept.folder, ...command])],
        {
          ...OWN_GROUP,
          ...PIPED,
          env,
          // execa's types know the first three descriptors only.
          stdout: /** @type {1} */ (log),
        },
      )
      child.stdin.on('error', () => {})
      return child
    },
  }
}

/**
 * Waits until the connection is open, and keeps it by pings.
 * @param {Master} master
 * @param {{ host: string, signal: AbortSignal, beatMs: number }} options
 * @returns folder: of the run there; ask: sends a word to keep.sh; assertOpen, assertKept: throw if the connection is
 *   lost; close: ends everything there
 * @throws {BenchError} if there is no connection, with the reason and advice; the signal's reason when it aborts
 */
async function keepConnection(master, { host, signal, beatMs }) {
  let said = ''
  master.stderr.setEncoding('utf8').on('data', text => {
    said = (said + text).slice(-4000)
  })
  master.stdin.on('error', () => {})
  /** @type {((line: string | null) => void)[]} */
  const pending = []
  let isOpen = true
  let isClosing = false
  const ended = master.then(({ code }) => {
    isOpen = false
    for (const answer of pending.splice(0)) answer(null)
    return code === 'ENOENT' ? 'ENOENT' : listLastLines(said, 3).join(' | ')
  })
  const folder = await awaitFolder(master, { ended, signal })
  if (folder === null) {
    const why = await ended
    signal.throwIfAborted()
    throw new BenchError(renderConnectionRefusal(host, why))
  }
  let unanswered = 0
  readline.createInterface({ input: master.stdout }).on('line', line => {
    unanswered = 0
    pending.shift()?.(line)
  })
  // Pings are counted, not timed: this program may have been stopped for a while, with the answers waiting.
  const beating = setInterval(() => {
    if (!isOpen) return
    if (unanswered === UNANSWERED_MOST) {
      said = `${unanswered} pings went unanswered`
      master.kill('SIGKILL')
    } else void ask('ping').catch(() => {})
    unanswered++
  }, beatMs)
  beating.unref()

  /**
   * Sends a word to keep.sh.
   * @param {'ping' | 'time'} word
   * @returns {Promise<string>} the line that answers it
   * @throws {SiteLostError} if the connection is lost
   */
  async function ask(word) {
    assertOpen()
    const answer = await new Promise(resolve => {
      pending.push(resolve)
      master.stdin.write(`${word}\n`)
    })
    if (answer === null) assertOpen()
    return answer
  }

  /** Asserts that the connection is open, or was closed on purpose. @throws {SiteLostError} if it is lost */
  function assertOpen() {
    if (isOpen || isClosing) return
    const why = listLastLines(said, 2).join(' | ')
    throw new SiteLostError(
      `the connection to ${host} was lost${why ? `: ${why}` : ''}; what made the load there ends by itself within ${SILENT_SECONDS} s; when ${host} answers again, ${renderCommand('bench', '--resume')} goes on`,
    )
  }

  return {
    /** The folder of the run there; it goes with the connection. */
    folder,
    ask,
    assertOpen,

    /**
     * Asserts, by a ping, that the connection is open. A lost connection ends programs, and their end may be reported first.
     * @throws {SiteLostError} if it is lost
     */
    async assertKept() {
      if (!isClosing) await ask('ping')
    },

    /** Ends everything there, and removes the folder there. */
    async close() {
      isClosing = true
      clearInterval(beating)
      master.stdin.end()
      await withTimeout(ended, { seconds: CLOSE_SECONDS, late: () => master.kill('SIGKILL') })
    },
  }
}

/**
 * Waits for the line in which keep.sh prints its folder.
 * @param {Master} master
 * @param {{ ended: Promise<unknown>, signal: AbortSignal }} options
 * @returns {Promise<string | null>} the path of the folder there; null: there is no connection
 */
async function awaitFolder(master, { ended, signal }) {
  const stop = () => master.kill('SIGKILL')
  const timer = setTimeout(stop, OPEN_SECONDS * 1000)
  signal.addEventListener('abort', stop)
  try {
    // A login shell may print other lines before this one.
    let text = ''
    for await (const chunk of master.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
      text += chunk
      const [, folder] = /^sidecar-bench ready (\/.*)\n/m.exec(text) ?? []
      if (folder) return folder
    }
    await ended
    return null
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  }
}

/**
 * Renders why there is no connection, with advice.
 * @param {string} host
 * @param {string} said the last lines of ssh
 * @returns {string}
 */
function renderConnectionRefusal(host, said) {
  const refusal = REFUSALS.find(candidate => candidate.said.test(said))
  const what = `--load-host ${host}: no connection`
  const quoted = said && said !== 'ENOENT' ? ` (ssh says: ${said})` : ''
  if (!refusal)
    return `${what}${quoted}: it needs a POSIX shell and a folder for temporary files there; try: ssh ${host}`
  return `${what}, ${refusal.why}${quoted}: ${refusal.advice(host)}`
}

/**
 * Renders a command line for the login shell there. The command replaces the shell.
 * @param {string[]} words its argv
 * @returns {string}
 */
export function renderShellCommand(words) {
  return `exec ${words.map(quoteWord).join(' ')}`
}
