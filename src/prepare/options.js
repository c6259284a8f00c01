import { isIP } from 'node:net'
import { Help, InvalidArgumentError, Option } from 'commander'
import { listKinds } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { parseMilliseconds } from '../lib/units.js'
import { parseAddress } from '../live/address.js'
import { AXES, AXIS_NAMES } from '../model/arms.js'
import { burstFactor, p99Ms, precisionWidth, realSidecars, rounds } from '../model/bounds.js'
import { FEATURE_NAMES } from '../model/features.js'
import { OLD_KINDS } from '../model/old-words.js'
import { DEFAULT_GENERATOR, GENERATORS } from '../model/tools.js'
import { isOptionAllowed } from '../request/constraints.js'
import { PROFILES } from '../request/experiment.js'
import {
  assertParsed,
  createAxisParser,
  createSchemaParser,
  parseCount,
  parseList,
  parsePlanes,
  parseSeed,
} from './option-parsers.js'
import { readAnyExperiment } from './read-experiment.js'

/**
 * Defines the options that several verbs share, in one table, and those of experiments.
 * @import { Command } from 'commander'
 * @import { LiveAddress } from '../live/address.js'
 * @import { AxisName, PlaneChoice, SampleSource } from '../model/types.ts'
 */

/**
 * Options of the place of a run.
 * @typedef {object} SiteOptions
 * @property {'local' | 'kubernetes'} [target] local by default
 * @property {number[] | 'none'} [cpu] the CPU limits of a sidecar
 * @property {string} [out] the folder of results
 * @property {string} [loadHost] the remote machine that makes the load
 * @property {string} [address] at which that machine reaches this one
 * @property {string} [generator] of the load
 * @property {string} [context] of the cluster
 * @property {string} [node] of the services
 * @property {string} [loadNode] of the load
 * @property {string} [namespace]
 * @property {Record<string, string>} [image] by the name of a tool
 * @property {SampleSource} [samples]
 */

/**
 * Options that only a run has. Those of axes are read by `readAxisOptions`.
 * @typedef {object} OwnRunOptions
 * @property {PlaneChoice[]} [planes]
 * @property {string[]} [control]
 * @property {number} [real] the Envoys over ADS beyond which the others are simulated
 * @property {number} [burst] a multiple of the rate
 * @property {number} [rounds]
 * @property {number} [precision] the width of an interval, as a fraction
 * @property {('cost' | 'capacity')[]} [measure]
 * @property {string} profile
 * @property {number} [seed]
 * @property {boolean} pin
 * @property {'pipy' | 'node'} [app] what serves the applications
 * @property {number} [p99] its bound, in milliseconds
 * @property {string[]} [threshold]
 * @property {number} maxMinutes
 * @property {boolean} [yes] a run may take longer than that
 * @property {boolean} [retain] the services are left running
 * @property {boolean} [recheck] equal work is tried again
 * @property {LiveAddress} [live] of the page
 * @property {LiveAddress} [metrics] of the metrics for Prometheus
 */

/** Options of a run beside its experiment. @typedef {SiteOptions & OwnRunOptions} RunOptions */

const DEFAULT_EXPERIMENT = 'cap'
const MEASURED_KINDS = /** @type {const} */ (['cost', 'capacity'])
const HELP = ['-h', '--help']

/** The option of the CPU limit comes first: it is used most. */
const AXIS_OPTIONS = [...new Set(/** @type {AxisName[]} */ (['cpuLimitCores', ...AXIS_NAMES]))].flatMap(name => {
  const { option: words, kinds } = AXES[name]
  if (words === undefined) return []
  const option = createOption(words.flags, words.help)
  const parse = createAxisParser(name)
  // An option without a placeholder (`--remove-shard`) takes no value, so there is none to parse.
  if (option.required) option.argParser(text => (text === words.all ? text : parseList(text).map(parse)))
  return [{ name, kinds, option, attribute: option.attributeName() }]
})

/** An experiment that is computed, and measures nothing, takes these options alone. */
export const COMPUTED_OPTIONS = ['seed', 'out', 'json', 'details']

/** The table of constraints knows these options by other names. @type {Record<string, string>} */
const CONSTRAINT_NAMES = { control: 'controls', real: 'realMost', p99: 'p99Ms', burst: 'burstFactor' }

const SHARED = {
  maxMinutes: createOption('--max-minutes <n>', 'refuse a longer run, unless --yes is given', parseCount).default(60),
  yes: createOption('--yes', 'run it whatever its length'),
  precision: createOption(
    '--precision <width>',
    'measure rounds until the interval of CPU per request is as narrow as this, such as 3%, for every pair; ends at --max-minutes',
    createSchemaParser(precisionWidth, text => {
      const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? []
      return Number(assertParsed(percent, 'a width in percent such as 3% is needed')) / 100
    }),
  ),
  generator: createOption(
    '--generator <name>',
    'what makes the load; wrk: closed loops only, at a fraction of the CPU of k6',
    GENERATORS,
  ).default(DEFAULT_GENERATOR),
  recheck: createOption(
    '--recheck',
    'check for equal work also what passed before on this machine, and has not changed since',
  ),
  noPin: createOption('--no-pin', 'let generator, applications and sidecars share CPUs'),
  p99: createOption(
    '--p99 <time>',
    'the highest p99 that counts as held, such as 20ms',
    createSchemaParser(p99Ms, text => assertParsed(parseMilliseconds(text), 'a time such as 20ms or 1.5s is needed')),
  ),
  loadHost: createOption('--load-host <user@host>', 'make the load on another machine, over ssh', text =>
    // ssh would read a name with a leading hyphen as an option.
    assertParsed(/^[^\s-]\S*$/.exec(text)?.[0], 'a host as ssh takes it is needed, such as user@host'),
  ),
  address: createOption(
    '--address <a.b.c.d>',
    'with --load-host: the address of this machine to which the load goes; default: the one that it sees',
    text => assertParsed(isIP(text) === 4 ? text : null, 'an IPv4 address such as 10.0.0.1 is needed'),
  ),
  target: createOption('--target <name>', 'where services run', ['local', 'kubernetes']).default('local'),
  context: createOption('--context <name>', 'on Kubernetes: the context of the kubeconfig'),
  node: createOption('--node <name>', 'on Kubernetes: the node of the services, by name or label=value'),
  loadNode: createOption('--load-node <name>', 'on Kubernetes: the node of the load; default: that of the services'),
  namespace: createOption(
    '--namespace <name>',
    'on Kubernetes: the namespace to create; <name>-reader is created, too',
  ),
  image: createImageOption('on Kubernetes: '),
  samples: createOption('--samples <source>', 'on Kubernetes: the source of CPU and memory counters', [
    'cgroup',
    'kubelet',
  ]).default('cgroup'),
  live: createOption(
    '--live <address>',
    'serve a page that shows the run as it goes, such as :8080 (this machine alone)',
    text => parseAddress(text, '--live'),
  ),
  metrics: createOption(
    '--metrics <address>',
    'serve metrics for Prometheus under /metrics, such as :9464 (this machine alone)',
    text => parseAddress(text, '--metrics'),
  ),
  out: createOption('--out <dir>', 'results folder; must not exist or be empty'),
}

/** @typedef {keyof typeof SHARED} SharedName */

/** These options apply on a cluster alone. @type {SharedName[]} */
export const CLUSTER_OPTIONS = ['context', 'node', 'loadNode', 'namespace', 'image', 'samples']

/**
 * Adds options that several verbs share.
 * @param {Command} command
 * @param {SharedName[]} names
 * @returns {Command} the same command
 */
export function addSharedOptions(command, ...names) {
  for (const name of names) command.addOption(SHARED[name])
  return command
}

/**
 * Adds the argument `experiment` and the options of all experiments. Help shows only those that the named experiment
 * takes.
 * @param {Command} command
 * @returns {Command} the same command
 */
export function addExperimentOptions(command) {
  addSharedOptions(command, 'maxMinutes', 'yes')
    .argument('[experiment]', 'an experiment of bench/experiments, or a file', DEFAULT_EXPERIMENT)
    .option(
      '--planes <list>',
      'data planes, each a name, name:profile, name@control, name=/path/to/program, pipy=./folder (scripts like pipy-scripts, or with a pipeline.yaml), or proxy=./folder (a pipeline.yaml: any program)',
      parsePlanes,
    )
    .option(
      '--control <list>',
      'what configures sidecars; pipy: repo; envoy: file, ads, ads-delta; default: the first of a plane',
      parseList,
    )
  for (const axis of AXIS_OPTIONS) command.addOption(axis.option)
  command
    .option(
      '--real <n>',
      'Envoys over ADS beyond n, at least 30, are simulated; default: beyond 400',
      createSchemaParser(realSidecars, parseCount),
    )
    .option(
      '--measure <list>',
      'cost: CPU per request of interleaved arms; capacity: what each delivers at its CPU limit; default: as the experiment says',
      parseMeasuredKinds,
    )
    .option(
      '--burst <times>',
      'the rate of bursts as a multiple of --rate, such as 10x; default: as the experiment says',
      createSchemaParser(burstFactor, text =>
        Number(assertParsed(/^(\d+(?:\.\d+)?)x$/.exec(text)?.[1], 'a multiple of the rate such as 10x is needed')),
      ),
    )
    .option('--rounds <n>', 'how often each arm is measured', createSchemaParser(rounds, parseCount))
    .option('--profile <name>', `rounds and lengths: ${Object.keys(PROFILES).join(', ')}`, 'standard')
    .option('--seed <n>', 'seed of the random order of the arms', parseSeed)
  return addSharedOptions(command, 'noPin', 'generator')
    .addOption(
      createOption('--app <name>', 'what serves the applications; default: pipy where it is here', ['pipy', 'node']),
    )
    .addOption(SHARED.p99)
    .configureHelp({ visibleOptions: listVisibleOptions })
    .addHelpText('after', () => {
      const other = renderCommand(command.name(), 'EXPERIMENT --help')
      return `\nThe options are those of the experiment ${findExperimentName(command)}; those of another: ${other}`
    })
}

/**
 * Parses the value of --measure. Names of older versions are accepted.
 * @param {string} text
 * @returns {('cost' | 'capacity')[]} cost first
 * @throws {InvalidArgumentError} for another kind, or if an entry is empty or repeated
 */
function parseMeasuredKinds(text) {
  const kinds = parseList(text).map(name => OLD_KINDS[name] ?? name)
  if (kinds.some(name => name !== 'cost' && name !== 'capacity'))
    throw new InvalidArgumentError('cost, capacity, or both')
  return MEASURED_KINDS.filter(name => kinds.includes(name))
}

/**
 * Lists the options that help shows, and that commander suggests for a typo: those that the experiment of the command takes.
 * @this {Help}
 * @param {Command} command
 * @returns {Option[]}
 * @throws {UsageError} as `readExperimentOfHelp`
 */
function listVisibleOptions(command) {
  const experiment = readExperimentOfHelp(command)
  return Help.prototype.visibleOptions
    .call(this, command)
    .filter(option => hasOption(option.attributeName(), experiment))
}

/**
 * Says whether an experiment takes an option: one that is computed takes those of COMPUTED_OPTIONS alone.
 * @param {string} attribute the option's name, in camel case
 * @param {ReturnType<typeof readAnyExperiment>} experiment
 */
function hasOption(attribute, experiment) {
  if ('kind' in experiment) return ['help', ...COMPUTED_OPTIONS].includes(attribute)
  const axis = AXIS_OPTIONS.find(axis => axis.attribute === attribute)
  const kinds = listKinds(experiment)
  if (axis && !axis.kinds.some(kind => kinds.includes(kind))) return false
  return isOptionAllowed(axis?.name ?? CONSTRAINT_NAMES[attribute] ?? attribute, experiment)
}

/**
 * Reads the experiment that a command names.
 * @param {Command} command
 * @returns {ReturnType<typeof readAnyExperiment>} without --help, the default instead of one that cannot be read
 * @throws {UsageError} with --help, if it cannot be read
 */
function readExperimentOfHelp(command) {
  try {
    return readAnyExperiment(findExperimentName(command))
  } catch (error) {
    // commander also lists options to suggest one for a typo, and prints that error itself: it then gets those of the default.
    if (command.args.some(word => HELP.includes(word)) || !(error instanceof UsageError)) throw error
    return readAnyExperiment(DEFAULT_EXPERIMENT)
  }
}

/**
 * Finds the experiment that a command names: its first word that is no option, else DEFAULT_EXPERIMENT.
 * @param {Command} command
 * @returns {string}
 */
const findExperimentName = command => command.args.find(word => !word.startsWith('-')) ?? DEFAULT_EXPERIMENT

/**
 * Reads the values of the axes that options set, except the CPU limit of sidecars, which is `cpu`.
 * @param {object} options parsed by commander
 * @returns {Partial<Record<Exclude<AxisName, 'cpuLimitCores'>, unknown[]>>} only the axes that are set; {}: none is
 */
export function readAxisOptions(options) {
  const values = new Map(Object.entries(options).filter(([, value]) => value !== undefined))
  const axisOptions = AXIS_OPTIONS.filter(({ name, attribute }) => name !== 'cpuLimitCores' && values.has(attribute))
  // An option without a placeholder is true, which is its axis' one value.
  return Object.fromEntries(axisOptions.map(({ name, attribute }) => [name, [values.get(attribute)].flat()]))
}

/**
 * Creates the option --image, which may be repeated. Its value is checked by `assertImageTools`.
 * @param {string} prefix the beginning of its help
 * @returns {Option} its value is the image by the name of the tool
 */
export function createImageOption(prefix) {
  const option = new Option('--image <tool=image>', `${prefix}another image, such as pipy=registry/pipy:1.5`)
  return option.default({}).argParser((text, /** @type {Record<string, string>} */ before) => {
    const [, tool, image] = /^([a-z0-9]+)=(\S+)$/.exec(text) ?? []
    if (tool) return { ...before, [tool]: image }
    throw new InvalidArgumentError('TOOL=IMAGE is needed, such as pipy=registry/pipy:1.5')
  })
}

/** Creates the option --features of a verb that takes one set, and no list of sets. @returns {Option} */
export function createFeaturesOption() {
  const help = `of each sidecar: lean, all, or names joined by +, such as access-log+metrics; names: ${FEATURE_NAMES.join(', ')}`
  return new Option('--features <set>', help).argParser(createAxisParser('features'))
}

/**
 * Creates an option.
 * @param {string} flags
 * @param {string} help
 * @param {readonly string[] | ((text: string) => unknown)} [values] the allowed ones, or a parser; absent: any text
 * @returns {Option}
 */
function createOption(flags, help, values) {
  const option = new Option(flags, help)
  if (typeof values === 'function') return option.argParser(values)
  return values ? option.choices(values) : option
}
