import { Command } from 'commander'
import { EXIT, UsageError } from '../lib/errors.js'
import { loadAfterRun } from '../prepare/measure.js'
import { collectValues } from '../prepare/option-parsers.js'
import { addExperimentOptions, addSharedOptions, CLUSTER_OPTIONS } from '../prepare/options.js'
import { readAnyExperiment, readExperiment } from '../prepare/read-experiment.js'
import { runExperiment } from '../prepare/run-experiment.js'
import { announceResults, writeDocuments } from './documents.js'

/**
 * @import { RunOptions } from '../prepare/options.js'
 * @import { Context } from './program.js'
 * @typedef {RunOptions & { resume?: string, json?: boolean, details?: boolean, requireVerdict?: boolean }} BenchOptions
 */

// Options that are allowed beside `--resume`: they change no number.
const BESIDE_RESUME = ['resume', 'live', 'metrics', 'json', 'details', 'yes', 'maxMinutes', 'retain', 'recheck']

/** Adds `bench`, which runs an experiment and reports it. @type {import('./program.js').AddVerb} */
export function addBench(verb, context) {
  const { say } = context
  const command = defineBench(verb)
  command.action(async (/** @type {string} */ argument, /** @type {BenchOptions} */ typedOptions) => {
    const interrupted = typedOptions.resume === undefined ? undefined : await openResumedRun(typedOptions.resume)
    const { name, options } = interrupted
      ? parseResumedCommand(interrupted, command)
      : { name: argument, options: typedOptions }
    for (const warning of interrupted?.warnings ?? []) say(`warning: ${warning}`)
    const experiment = readAnyExperiment(name)
    if ('kind' in experiment) {
      const { benchComputedRun } = await import('./computed.js')
      return benchComputedRun({ experiment, command }, context)
    }
    await runBench({ experiment, options, interrupted }, context)
  })
}

/**
 * Opens an interrupted run. The code of --resume is loaded here, since few runs need it.
 * @param {string} folder of the run
 * @returns {Promise<import('../run/resume.js').Interrupted>}
 * @throws {UsageError} if the folder holds no run
 */
async function openResumedRun(folder) {
  const { readInterruptedRun } = await import('../run/resume.js')
  return readInterruptedRun(folder)
}

/**
 * Runs `bench` with the arguments of a command line.
 * @param {string[]} words arguments after the verb; invalid ones end the process, as commander does
 * @param {Context} context
 * @param {{ relaxes?: { gate: string, why: string }[] }} [options] relaxes: gates that are relaxed, beside those of
 *   the experiment
 * @throws {UsageError} if there is no such experiment, or it is computed; as `runBench`
 */
export async function runBenchCommand(words, context, { relaxes = [] } = {}) {
  const command = defineBench(new Command('bench')).parse(words, { from: 'user' })
  const experiment = readExperiment(command.processedArgs[0])
  const relaxed = { ...experiment, relaxes: [...experiment.relaxes, ...relaxes] }
  await runBench({ experiment: relaxed, options: command.opts() }, context)
}

/**
 * Runs an experiment, prints its answer or summary.json, and sets the exit status, with the reasons for another than 0 on stderr.
 * @param {Pick<import('../prepare/run-experiment.js').ExperimentRun, 'experiment' | 'interrupted'> & { options: BenchOptions }} request
 * @param {Context} context
 * @returns {Promise<void>}
 * @throws any error of the run; the signal's reason if it is interrupted
 */
function runBench(request, context) {
  const { print, say } = context
  const { json, details, requireVerdict: isVerdictRequired = false } = request.options
  return runExperiment(
    {
      ...request,
      writeDocuments,
      announceResults,
      async report({ summary, folder, isInterrupted }) {
        // The code of the answer is loaded after the run, to leave the memory to what is measured.
        const { renderRunText } = await loadAfterRun(folder, () => import('./answer.js'))
        print(json ? JSON.stringify(summary, null, 2) : renderRunText({ summary, folder, details }))
        if (isInterrupted) return EXIT.interrupted
        const { chooseRunStatus } = await loadAfterRun(folder, () => import('../analysis/status.js'))
        const { status, reasons } = chooseRunStatus(summary, { isVerdictRequired })
        reasons.forEach(say)
        return status
      },
    },
    context,
  )
}

/** Adds the argument and the options of `bench`. @param {Command} command @returns {Command} the same command */
function defineBench(command) {
  const sharedOptions = /** @type {const} */ ([
    'precision',
    'loadHost',
    'address',
    ...CLUSTER_OPTIONS,
    'live',
    'metrics',
    'out',
    'recheck',
  ])
  addSharedOptions(addExperimentOptions(command), ...sharedOptions)
    .option('--resume <results>', 'go on with a run that was cut short: measure what it lacks')
    .option('--json', 'print summary.json instead of the answer')
    .option('--details', 'print every quantity, check and definition instead of the answer')
    .option(
      '--threshold <expr>',
      "a ratio that must hold, such as 'pipy/envoy cpuPerRequest <= 0.6'",
      collectValues,
      [],
    )
    .option('--require-verdict', 'status 3 where no verdict is reached')
    .option('--retain', 'leave the services of the last trial running')
  return addSharedOptions(command, 'target')
}

/**
 * Parses the command line of an interrupted run. Options of the resuming command replace those of the run.
 * @param {import('../run/resume.js').Interrupted} interrupted
 * @param {Command} command that resumes the run
 * @returns {{ name: string, options: BenchOptions }} name: of the experiment; options: with the seed of the run, and no `out`
 * @throws {UsageError} if the resuming command has an argument or an option that changes numbers, or the run is of
 *   another verb; {CommanderError} if this kit does not accept the options of the run
 */
function parseResumedCommand({ folder, manifest }, command) {
  const typed = Object.keys(command.opts()).filter(name => command.getOptionValueSource(name) === 'cli')
  if (command.args.length > 0 || typed.some(name => !BESIDE_RESUME.includes(name)))
    throw new UsageError(
      `--resume ${folder} measures what that run was asked: ${manifest.command.join(' ')}; leave out the rest`,
    )
  const [verb, ...words] = manifest.command
  if (verb !== 'bench')
    throw new UsageError(`--resume ${folder}: a run of ${verb} cannot be resumed, only one of bench`)
  const runCommand = new Command(verb).copyInheritedSettings(/** @type {Command} */ (command.parent))
  const parsedCommand = defineBench(runCommand).parse(words, { from: 'user' })
  const overriding = Object.fromEntries(typed.map(name => [name, command.opts()[name]]))
  return {
    name: parsedCommand.processedArgs[0],
    options: { ...parsedCommand.opts(), seed: manifest.run.seed, ...overriding, out: undefined },
  }
}
