#!/usr/bin/env node
import { setMaxListeners } from 'node:events'
import { Command, CommanderError } from 'commander'
import { BenchError } from './lib/errors.js'
import { readKit } from './lib/kit.js'
import { addAgree } from './verbs/agree.js'
import { addBench } from './verbs/bench.js'
import { addClaims } from './verbs/claims.js'
import { addCleanup } from './verbs/cleanup.js'
import { addCompare } from './verbs/compare.js'
import { addDoctor } from './verbs/doctor.js'
import { addImages } from './verbs/images.js'
import { addPlan } from './verbs/plan.js'
import { addReport } from './verbs/report.js'
import { addSize } from './verbs/size.js'
import { addVerify } from './verbs/verify.js'
import { openWatchers } from './verbs/watchers.js'

/**
 * @import { Context } from './model/types.ts'
 */

/** Beside the view of the terminal, while there is one. @type {((line: string) => void) | null} */
let sayBeside = null
const write = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)
const say = (/** @type {string} */ line) => (sayBeside ?? write)(line)

// Who reads what is said may go away (`| head`): the run goes on, and removes what it started.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
  })
}

const stopping = new AbortController()
// Everything that waits listens to it.
setMaxListeners(0, stopping.signal)
for (const [name, status] of /** @type {const} */ ([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])) {
  process.on(name, () => {
    if (stopping.signal.aborted) return
    say(`${name}: stopping what runs; what was measured is kept`)
    stopping.abort(new BenchError(`interrupted by ${name}`, { exitStatus: status }))
  })
}

/** @type {Context} */
const context = {
  print: text => void process.stdout.write(`${text}\n`),
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

const program = new Command('sidecar-bench')
  .description('Measures what a service-mesh sidecar costs: Pipy, Envoy and no mesh, at a CPU cap, under k6.')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, '')) })

for (const add of [addBench, addAgree, addPlan, addSize, addClaims, addReport, addCompare, addVerify])
  add(program, context)
for (const add of [addDoctor, addImages, addCleanup]) add(program, context)

try {
  program.version((await readKit()).version)
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitStatusOf(error)
  if (!(error instanceof CommanderError)) {
    const { message, stack } = /** @type {Error} */ (error)
    say(process.env.DEBUG ? (stack ?? message) : `error: ${message}`)
  }
}

/** @param {unknown} error */
function exitStatusOf(error) {
  if (error instanceof BenchError) return error.exitStatus
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return 1
}
