import { Command, CommanderError } from 'commander'
import { BenchError } from '../lib/errors.js'
import { EXIT } from '../lib/exit-status.js'
import { addAgree } from './agree.js'
import { addBench } from './bench.js'
import { addClaims } from './claims.js'
import { addCleanup } from './cleanup.js'
import { addCompare } from './compare.js'
import { addDoctor } from './doctor.js'
import { addHelp } from './help.js'
import { addImages } from './images.js'
import { addLab } from './lab.js'
import { addParity } from './parity.js'
import { addPlan } from './plan.js'
import { addReport } from './report.js'
import { addSize } from './size.js'
import { addVerify } from './verify.js'

/**
 * The command line: every verb, its options, and its help.
 * @import { openWatchers } from './watchers.js'
 */

/**
 * What a verb is given of the command line.
 * @typedef {object} Context
 * @property {(text: string) => void} print the product, on stdout
 * @property {(line: string) => void} say progress, on stderr
 * @property {(status: number) => void} end sets the exit status
 * @property {AbortSignal} signal aborts when the program is interrupted
 * @property {(options: Parameters<typeof openWatchers>[0]) => ReturnType<typeof openWatchers>} watch opens the views of a run
 */

const VERBS = [addBench, addAgree, addPlan, addSize, addClaims, addReport, addCompare, addLab, addVerify]
const HOUSEKEEPING = [addDoctor, addParity, addImages, addCleanup]

/**
 * @param {Context} context
 * @returns {Command} parsing a command line with it throws, and never ends the process
 */
export function createProgram(context) {
  const withoutLineEnd = (/** @type {string} */ text) => text.replace(/\n$/, '')
  const program = new Command('sidecar-bench')
    .description('Measures what a service-mesh sidecar costs: Pipy, Envoy and no mesh, at a CPU cap, under k6.')
    .exitOverride()
    .configureOutput({
      writeOut: text => context.print(withoutLineEnd(text)),
      writeErr: text => context.say(withoutLineEnd(text)),
      outputError: (text, write) => write(text.replace(/^error: /, '')),
    })
  for (const add of [...VERBS, ...HOUSEKEEPING]) add(program, context)
  addHelp(program)
  return program
}

/** @param {unknown} error what parsing a command line threw */
export function exitStatusOf(error) {
  if (error instanceof BenchError) return error.exitStatus
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  return EXIT.failed
}

/**
 * @param {unknown} error
 * @returns {string | null} null: commander has said it
 */
export function messageOf(error) {
  if (error instanceof CommanderError) return null
  const { message, stack } = /** @type {Error} */ (error)
  return process.env.DEBUG ? (stack ?? message) : `error: ${message}`
}
