import { Command, CommanderError } from 'commander'
import { BenchError, EXIT, UsageError } from '../lib/errors.js'
import { addHelp } from './help.js'

/**
 * The command line: every verb, its options, and its help.
 * @import { openWatchers } from './watchers.js'
 */

/**
 * @typedef {object} Context
 * @property {(text: string) => void} print writes the product to stdout
 * @property {(line: string) => void} say writes progress to stderr
 * @property {(status: number) => void} end sets the exit status
 * @property {AbortSignal} signal aborts when the program is interrupted
 * @property {(options: Parameters<typeof openWatchers>[0]) => ReturnType<typeof openWatchers>} watch opens the views of a run
 */
/**
 * Adds the options and the action of a verb.
 * @typedef {(verb: Command, context: Context) => void | Promise<void>} AddVerb
 */

/** @type {Record<string, () => Promise<AddVerb>>} */
const VERBS = {
  bench: async () => (await import('./bench.js')).addBench,
  plan: async () => (await import('./plan.js')).addPlan,
  size: async () => (await import('./size.js')).addSize,
  traffic: async () => (await import('./traffic.js')).addTraffic,
  claims: async () => (await import('./claims.js')).addClaims,
  report: async () => (await import('./report.js')).addReport,
  compare: async () => (await import('./compare.js')).addCompare,
  lab: async () => (await import('./lab.js')).addLab,
  verify: async () => (await import('./verify.js')).addVerify,
  doctor: async () => (await import('./doctor.js')).addDoctor,
  parity: async () => (await import('./parity.js')).addParity,
  images: async () => (await import('./images.js')).addImages,
  cleanup: async () => (await import('./cleanup.js')).addCleanup,
  completion: async () => (await import('./completion.js')).addCompletion,
}

/**
 * Creates the command line.
 * @param {Context} context
 * @param {string[]} [words] of the command line: the modules of a verb that is not among them are not loaded, and it
 *   has no options
 * @returns {Promise<Command>} it throws if a command line is wrong, and never ends the process
 */
export async function createProgram(context, words = Object.keys(VERBS)) {
  const withoutLineEnd = (/** @type {string} */ text) => text.replace(/\n$/, '')
  const program = new Command('sidecar-bench')
    .description('Measures what a service-mesh sidecar costs: Pipy, Envoy and no mesh, at a CPU limit, under k6.')
    .exitOverride()
    .configureHelp({ subcommandTerm: verb => verb.name() })
    .configureOutput({
      writeOut: text => context.print(withoutLineEnd(text)),
      writeErr: text => context.say(withoutLineEnd(text)),
      outputError: (text, write) => write(text.replace(/^error: /, '')),
    })
  program.hook('preSubcommand', ({ args }) => {
    for (const [i, word] of args.entries()) {
      const [, joined] = /^(--[^=]+)=\s*$/.exec(word) ?? []
      if (word.trim() !== '' && joined === undefined) continue
      const previousWord = args[i - 1] ?? ''
      const emptyArgument = joined ?? (/^--?[a-z]/.test(previousWord) ? previousWord : `an argument of ${args[0]}`)
      // An empty word is usually an unset variable of a shell; no verb has a use for one.
      throw new UsageError(`${emptyArgument} is empty: give a value, or leave it out`)
    }
  })
  for (const [name, load] of Object.entries(VERBS)) {
    const verb = program.command(name)
    // `completion` lists the options of all verbs.
    if (words.includes(name) || words.includes('completion')) await (await load())(verb, context)
  }
  addHelp(program)
  return program
}

/**
 * Chooses the exit status for an error.
 * @param {unknown} error that a verb or its command line threw
 * @returns {number}
 */
export function findExitStatus(error) {
  if (error instanceof BenchError) return error.exitStatus
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  return EXIT.failed
}

/**
 * Renders an error, with its stack if DEBUG is set.
 * @param {unknown} error
 * @returns {string | null} null: commander has printed it already
 */
export function renderErrorMessage(error) {
  if (error instanceof CommanderError) return null
  const { message, stack } = /** @type {Error} */ (error)
  return process.env.DEBUG ? (stack ?? message) : `error: ${message}`
}
