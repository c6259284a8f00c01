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
 * Creates the command line, with all verbs.
 * @param {Context} context
 * @param {string[]} [words] of the command line: a verb that is not among them is not loaded, and has no options; by default all
 *   are loaded
 * @returns {Promise<Command>} whose `parseAsync` throws CommanderError if a command line is wrong or help was printed, and never ends
 *   the process
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
  program.hook('preSubcommand', ({ args }) => assertNoEmptyArgument(args))
  for (const [name, load] of Object.entries(VERBS)) {
    const verb = program.command(name)
    // `completion` lists the options of all verbs.
    if (words.includes(name) || words.includes('completion')) await (await load())(verb, context)
  }
  addHelp(program)
  return program
}

/**
 * Asserts that no word of a command line is empty or blank: it is usually an unset variable of a shell, and no verb has a use for one.
 * @param {string[]} words from the verb on
 * @throws {UsageError} for the first empty word, or option without its value, as in `--planes=`
 */
function assertNoEmptyArgument(words) {
  for (const [i, word] of words.entries()) {
    const [, flag] = /^(--[^=]+)=\s*$/.exec(word) ?? []
    if (word.trim() !== '' && flag === undefined) continue
    const previousWord = words[i - 1] ?? ''
    const isOptionValue = /^--?[a-z]/.test(previousWord)
    const name = flag ?? (isOptionValue ? previousWord : `an argument of ${words[0]}`)
    throw new UsageError(`${name} is empty: give a value, or leave it out`)
  }
}

/**
 * Chooses the exit status for an error: its own, EXIT.usage for one of commander (EXIT.done after help), else EXIT.failed.
 * @param {unknown} error that a verb or its command line threw
 * @returns {number}
 */
export function chooseExitStatus(error) {
  if (error instanceof BenchError) return error.exitStatus
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.done : EXIT.usage
  return EXIT.failed
}

/**
 * Renders the message of an error; its stack instead if DEBUG is set.
 * @param {unknown} error
 * @returns {string | null} null: it is one of commander, which has printed it already
 */
export function renderErrorMessage(error) {
  if (error instanceof CommanderError) return null
  const { message, stack } = /** @type {Error} */ (error)
  return process.env.DEBUG ? (stack ?? message) : `error: ${message}`
}
