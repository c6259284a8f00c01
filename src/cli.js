#!/usr/bin/env node
import { setMaxListeners } from 'node:events'
import { BenchError } from './lib/errors.js'
import { EXIT } from './lib/exit-status.js'
import { readKit } from './lib/kit.js'
import { showControls } from './lib/printable.js'
import { createProgram, exitStatusOf, messageOf } from './verbs/program.js'
import { openWatchers } from './verbs/watchers.js'

/**
 * @import { Context } from './verbs/program.js'
 */

/** Beside the view of the terminal, while there is one. @type {((line: string) => void) | null} */
let sayBeside = null
const write = (/** @type {string} */ line) => void process.stderr.write(`${showControls(line)}\n`)
const say = (/** @type {string} */ line) => (sayBeside ?? write)(line)

// stdout and stderr may be closed by their reader (`| head`): the run goes on, and removes what it started.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
  })
}

// execa listens to this signal as an end of the process, and leaves it deadly. With a listener here, a file that may not
// grow (ulimit -f) is an error of its write.
process.on('SIGXFSZ', () => {})

const stopping = new AbortController()
// Everything that waits listens to it.
setMaxListeners(0, stopping.signal)
for (const [name, status] of /** @type {const} */ ([
  ['SIGINT', EXIT.interrupted],
  ['SIGTERM', EXIT.terminated],
])) {
  process.on(name, () => {
    if (stopping.signal.aborted) return
    say(`${name}: stopping what runs; what was measured is kept`)
    stopping.abort(new BenchError(`interrupted by ${name}`, { exitStatus: status }))
  })
}

/** @type {Context} */
const context = {
  print: text => void process.stdout.write(`${showControls(text)}\n`),
  say,
  end(status) {
    process.exitCode = status
  },
  signal: stopping.signal,
  async watch(options) {
    const watchers = await openWatchers(options, { stream: process.stderr, say: write })
    sayBeside = watchers.say
    const close = async () => {
      sayBeside = null
      await watchers.close()
    }
    return { ...watchers, close }
  },
}

try {
  await createProgram(context)
    .version((await readKit()).version)
    .parseAsync()
} catch (error) {
  process.exitCode = exitStatusOf(error)
  const message = messageOf(error)
  if (message !== null) say(message)
}
