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
/**
 * The answer of a program that ran there.
 * @typedef {object} Answer
 * @property {number | undefined} exitCode undefined: ssh was killed, or did not start
 * @property {string} stdout
 * @property {string} stderrTail the last lines of stderr, joined
 */
/**
 * A reason for which ssh makes no connection.
 * @typedef {object} Refusal
 * @property {RegExp} pattern matches what ssh prints
 * @property {string} why
 * @property {(host: string) => string} advice
 */

const KEEP = readFileSync(new URL('keep.sh', import.meta.url), 'utf8')
const RUN = readFileSync(new URL('run.sh', import.meta.url), 'utf8')
const CONNECT_SECONDS = 10
const OPEN_SECONDS = 30
const BEAT_MS = 2000
// After this many unanswered pings the connection counts as lost: 12 s, less than the SILENT_SECONDS after which keep.sh ends by
// itself.
const UNANSWERED_MOST = 5
const SILENT_SECONDS = 20
const CLOSE_SECONDS = 5
// Characters of the stderr of ssh that are kept for errors.
const STDERR_MOST = 4000
/** The time until the kit notices that the network is lost. */
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
    pattern: /^ENOENT$/,
    why: 'there is no ssh here',
    advice: () => 'install the OpenSSH client (apt install openssh-client)',
  },
  {
    pattern: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/,
    why: 'its host key is another than the one that ssh knows',
    advice: host => `if that is right, forget the old one with ssh-keygen -R, and accept the new one with: ssh ${host}`,
  },
  {
    pattern: /Host key verification failed|No .* host key is known/,
    why: 'ssh does not know its host key',
    advice: host => `look at it, and accept it with: ssh ${host}`,
  },
  {
    pattern: /Permission denied|Too many authentication failures/,
    why: 'it accepts none of the keys that ssh has without asking',
    advice: host => `give it one with ssh-copy-id ${host}, or unlock yours with ssh-add`,
  },
  {
    pattern: /Could not resolve hostname/,
    why: 'its name is unknown',
    advice: () => 'name it as in ssh, or give it an address in ~/.ssh/config',
  },
  {
    pattern: /Connection refused|timed out|No route to host|Network is unreachable/,
    why: 'it cannot be reached',
    advice: host => `see that sshd runs there, and try: ssh ${host}`,
  },
]

/**
 * @typedef {object} ConnectionOptions
 * @property {string} host as for ssh
 * @property {string} folder for the socket, which only this user can access
 * @property {Record<string, string>} environment of ssh, beside ours
 * @property {AbortSignal} signal aborts the opening, and every `run`
 * @property {number} [beatMs] the interval between pings; BEAT_MS by default
 */

/**
 * Opens a connection to another machine, and creates a folder there for the run.
 * @param {ConnectionOptions} options
 * @returns run: runs a program there to its end; start: starts one; host: as given; folder: that of the run there; ask, assertOpen,
 *   assertKept, close: of the connection (`keepConnection`), which the caller closes
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
     * @param {{ input?: import('node:stream').Readable }} [options] input: its stdin; absent: it is empty
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
      return { exitCode, stdout, stderrTail: listLastLines(stderr, 3).join(' | ') }
    },

    /**
     * Starts a program that run.sh kills when stdin closes.
     * @param {{ command: string[], log: number }} options command: its argv; log: the file descriptor for its output, which the
     *   caller closes
     * @returns the process of ssh, which ends as the program does; its stderr has the readings
     * @throws {SiteLostError} if the connection is lost
     */
    start({ command, log }) {
      kept.assertOpen()
      const shellCommand = renderShellCommand(['/bin/sh', '-c', RUN, 'run', kept.folder, ...command])
      // execa's types know the first three descriptors only.
      const stdout = /** @type {1} */ (log)
      const child = execa('ssh', [...inside, shellCommand], { ...OWN_GROUP, ...PIPED, env, stdout })
      // Writing to an ssh that has ended fails; its end is seen anyway.
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
  let stderrTail = ''
  master.stderr.setEncoding('utf8').on('data', text => {
    stderrTail = (stderrTail + text).slice(-STDERR_MOST)
  })
  master.stdin.on('error', () => {})
  /** Each takes the answer to one word; null: the connection has ended. @type {((line: string | null) => void)[]} */
  const pending = []
  let isOpen = true
  let isClosing = false
  const ended = master.then(({ code }) => {
    isOpen = false
    for (const resolve of pending.splice(0)) resolve(null)
    return code === 'ENOENT' ? 'ENOENT' : listLastLines(stderrTail, 3).join(' | ')
  })
  const folder = await awaitFolder(master, { ended, signal })
  if (folder === null) {
    const reason = await ended
    signal.throwIfAborted()
    throw new BenchError(renderConnectionRefusal(host, reason))
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
      stderrTail = `${unanswered} pings went unanswered`
      master.kill('SIGKILL')
    } else void ask('ping').catch(() => {})
    unanswered++
  }, beatMs)
  beating.unref()

  /**
   * Sends a word to keep.sh.
   * @param {'ping' | 'time'} word
   * @returns {Promise<string>} the line that answers it: `pong`, or nanoseconds since the epoch
   * @throws {SiteLostError} if the connection is lost, or was closed
   */
  async function ask(word) {
    assertOpen()
    const answer = isOpen
      ? await new Promise(resolve => {
          pending.push(resolve)
          master.stdin.write(`${word}\n`)
        })
      : null
    if (answer !== null) return answer
    assertOpen()
    throw new SiteLostError(`the connection to ${host} was closed`)
  }

  /** Asserts that the connection is open, or was closed on purpose. @throws {SiteLostError} if it is lost */
  function assertOpen() {
    if (isOpen || isClosing) return
    const why = listLastLines(stderrTail, 2).join(' | ')
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
     * Asserts, by a ping, that the connection is open, unless it was closed on purpose. A lost connection ends programs, and their
     * end may be reported first.
     * @throws {SiteLostError} if it is lost
     */
    async assertKept() {
      if (!isClosing) await ask('ping')
    },

    /** Ends everything there, and removes the folder there. If ssh has not ended after CLOSE_SECONDS, it is killed. */
    async close() {
      isClosing = true
      clearInterval(beating)
      master.stdin.end()
      await withTimeout(ended, { seconds: CLOSE_SECONDS, late: () => master.kill('SIGKILL') })
    },
  }
}

/**
 * Waits for the line in which keep.sh prints its folder, and kills ssh when OPEN_SECONDS pass or the signal aborts.
 * @param {Master} master
 * @param {{ ended: Promise<unknown>, signal: AbortSignal }} options ended: resolves when ssh has ended
 * @returns {Promise<string | null>} the path of the folder there; null: ssh ended before
 */
async function awaitFolder(master, { ended, signal }) {
  const kill = () => master.kill('SIGKILL')
  const timer = setTimeout(kill, OPEN_SECONDS * 1000)
  signal.addEventListener('abort', kill)
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
    signal.removeEventListener('abort', kill)
  }
}

/**
 * Renders why there is no connection, with advice.
 * @param {string} host
 * @param {string} reason the last lines of ssh; ENOENT: there is no ssh
 * @returns {string}
 */
function renderConnectionRefusal(host, reason) {
  const refusal = REFUSALS.find(({ pattern }) => pattern.test(reason))
  const failure = `--load-host ${host}: no connection`
  const quote = reason && reason !== 'ENOENT' ? ` (ssh says: ${reason})` : ''
  if (!refusal)
    return `${failure}${quote}: it needs a POSIX shell and a folder for temporary files there; try: ssh ${host}`
  return `${failure}, ${refusal.why}${quote}: ${refusal.advice(host)}`
}

/**
 * Renders a command line for the login shell there. The command replaces the shell.
 * @param {string[]} argv
 * @returns {string}
 */
export function renderShellCommand(argv) {
  return `exec ${argv.map(quoteWord).join(' ')}`
}
