#!/usr/bin/env node
import { setMaxListeners } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { setFlagsFromString } from 'node:v8'
import { renderCommand } from './lib/render-command.js'

/** @import { Context } from './verbs/program.js' */

// V8's young generation would grow to 48 MiB: memory that the measured processes would lack.
setFlagsFromString('--semi-space-growth-factor=1')

// Node opens all modules at once, and the kit keeps open the counters of every process.
const LEAST_OPEN_FILES = 512
const LIMITS = '/proc/self/limits'
const [, openFiles] = (existsSync(LIMITS) && /Max open files +(\d+)/.exec(readFileSync(LIMITS, 'utf8'))) || []
if (Number(openFiles) < LEAST_OPEN_FILES) {
  const needed = `the kit needs ${LEAST_OPEN_FILES}: ulimit -n 1024`
  process.stderr.write(`error: ${openFiles} open files are too few, ${needed}\n`)
  process.exit(1)
}
try {
  process.cwd()
} catch {
  process.stderr.write('error: the current folder no longer exists: change to one that does\n')
  process.exit(1)
}
// These modules are imported only now: with too few open files, they cannot be opened.
const { BenchError, EXIT } = await import('./lib/errors.js')
const { readVersion } = await import('./lib/kit.js')
const { escapeControls } = await import('./lib/printable.js')
const { createProgram, chooseExitStatus, renderErrorMessage } = await import('./verbs/program.js')

/** Writes a line beside the terminal's view of a run; null: no view is open. @type {((line: string) => void) | null} */
let sayBeside = null
/** Writes a line to stderr, with control characters escaped. @param {string} line */
const write = line => void process.stderr.write(`${escapeControls(line)}\n`)
/** Writes a line of progress. @param {string} line */
const say = line => (sayBeside ?? write)(line)

/** Makes the exit status EXIT.failed when this process exits, unless another one than 0 is set by then. */
const failAtExit = () =>
  process.once('exit', () => {
    process.exitCode ||= EXIT.failed
  })

// The reader of stdout and stderr may close them (`| head`), or the terminal may close: the run continues to its end.
const CLOSED_BY_READER = ['EPIPE', 'EIO']
for (const stream of [process.stdout, process.stderr]) {
  stream.once('error', (/** @type {NodeJS.ErrnoException} */ error) => {
    // More errors of the stream follow this one.
    stream.on('error', () => {})
    if (CLOSED_BY_READER.includes(`${error.code}`)) return
    write(`error: the output cannot be written: ${error.message}; what was measured is in the results folder`)
    failAtExit()
  })
}

// A file that may not grow (ulimit -f) sends this signal, and execa's listener for it lets it end the process. With a listener
// here, the write fails with an error instead.
process.on('SIGXFSZ', () => {})

const stopping = new AbortController()
// Everything that waits listens to this signal: Node would warn of more than ten listeners.
setMaxListeners(0, stopping.signal)

const STOP_TIMEOUT_MS = 120_000
let abortedAt = 0

/**
 * Aborts the run, which then removes the processes and files that it started, and prints that it does.
 * @param {Error} reason of the abort signal
 * @param {string} cause the beginning of the printed line
 */
function abortRun(reason, cause) {
  abortedAt = performance.now()
  say(`${cause}: stopping what runs; what was measured is kept`)
  stopping.abort(reason)
}

// npm forwards a signal that the process group also received: a second one within this time is a duplicate.
const DUPLICATE_SIGNAL_MS = 1000
const SIGNALS = {
  SIGINT: EXIT.interrupted,
  SIGTERM: EXIT.terminated,
  SIGHUP: EXIT.hangup,
  SIGQUIT: EXIT.quit,
  SIGUSR2: EXIT.userSignal,
}
for (const [name, status] of Object.entries(SIGNALS)) {
  process.on(name, () => {
    if (!stopping.signal.aborted) {
      abortRun(new BenchError(`interrupted by ${name}`, { exitStatus: status }), name)
    } else if (performance.now() - abortedAt > DUPLICATE_SIGNAL_MS) {
      say(`${name} again: ended at once; ${renderCommand('cleanup')} removes what is left`)
      process.exit(status)
    }
  })
}
process.on('uncaughtException', error => {
  failAtExit()
  if (stopping.signal.aborted) return say(`${renderErrorMessage(error)}`)
  abortRun(new BenchError(error.message, { cause: error }), `${renderErrorMessage(error)}`)
  // The run may wait for the part that failed: a timeout ends it.
  setTimeout(() => process.exit(EXIT.failed), STOP_TIMEOUT_MS).unref()
})

/** @type {Context} */
const context = {
  print: text => void process.stdout.write(`${escapeControls(text)}\n`),
  say,
  end(status) {
    process.exitCode = status
  },
  signal: stopping.signal,
  async watch(options) {
    const { openWatchers } = await import('./verbs/watchers.js')
    const watchers = await openWatchers(options, { stream: process.stderr, say: write })
    sayBeside = watchers.say
    return {
      ...watchers,
      async close() {
        sayBeside = null
        await watchers.close()
      },
    }
  },
}

try {
  const program = await createProgram(context, process.argv.slice(2))
  stopping.signal.throwIfAborted()
  await program.version(readVersion()).parseAsync()
  // A signal after the last trial sets the exit status, too.
  stopping.signal.throwIfAborted()
} catch (error) {
  // A signal also ends the programs that this one waits for, so their errors only follow from it.
  process.exitCode = chooseExitStatus(stopping.signal.aborted ? stopping.signal.reason : error)
  const message = renderErrorMessage(error)
  if (message !== null) say(message)
}
