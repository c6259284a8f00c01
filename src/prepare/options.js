import { isIP } from 'node:net'
import path from 'node:path'
import { Help, InvalidArgumentError, Option } from 'commander'
import { listKinds } from '../kinds/registry.js'
import { UsageError } from '../lib/errors.js'
import { renderCommand } from '../lib/render-command.js'
import { readMilliseconds } from '../lib/units.js'
import { parseAddress } from '../live/address.js'
import { AXES, AXIS_NAMES, parseChoice } from '../model/arms.js'
import { readCount } from '../model/axes/axis.js'
import { burstFactor, p99Ms, precisionWidth, realSidecars, rounds, seed } from '../model/bounds.js'
import { FEATURE_NAMES } from '../model/features.js'
import { OLD_KINDS } from '../model/old-words.js'
import { REQUEST_AXES } from '../model/requests.js'
import { DEFAULT_GENERATOR, GENERATORS } from '../model/tools.js'
import { isAllowed } from '../request/constraints.js'
import { PROFILES } from '../request/experiment.js'
import { readAnyExperiment } from './read-experiment.js'
import { readTraffic } from './read-traffic.js'

/**
 * The options that several verbs share, and their parsers, in one table.
 * @import { Command } from 'commander'
 * @import { LiveAddress } from '../live/address.js'
 * @import { AxisName, PlaneChoice, SampleSource } from '../model/types.ts'
 * @import { RequestOptions } from '../model/requests.js'
 */

/**
 * Options that say where a run takes place.
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
 * Options that only a run has. Those of axes are read by `readAxes`.
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
const MEASURED = /** @type {const} */ (['cost', 'capacity'])
const HELP = ['-h', '--help']

/** Axes whose values are files. @type {Partial<Record<AxisName, (text: string) => unknown>>} */
const FILES = { traffic: readTraffic }

/** The options of the axes. That of the CPU limit comes first: it is used most. */
const AXIS_OPTIONS = [...new Set(/** @type {AxisName[]} */ (['cpuLimitCores', ...AXIS_NAMES]))].flatMap(name => {
  const { option: words, kinds } = AXES[name]
  if (words === undefined) return []
  const option = createOption(words.flags, words.help)
  const parse = parseOnAxis(name)
  // An option without a placeholder (`--remove-shard`) takes no value: there is none to read.
  if (option.required) option.argParser(text => (text === words.all ? text : parseList(text).map(parse)))
  return [{ name, kinds, option, attribute: option.attributeName() }]
})

/** Options of an experiment that is computed, and measures nothing. */
export const COMPUTED_OPTIONS = ['seed', 'out', 'json', 'details']

/** Options that the table of constraints knows by another name. @type {Record<string, string>} */
const CONSTRAINED = { control: 'controls', real: 'realMost', p99: 'p99Ms', burst: 'burstFactor' }

/** Parses a whole number above 0. @throws {InvalidArgumentError} for any other text */
export const parseCount = createArgumentParser(readCount)

/** Parses a seed: a whole number from 0 on. @throws {InvalidArgumentError} for any other text */
export const parseSeed = createSchemaParser(seed, text =>
  Number(assertParsed(/^\d+$/.exec(text)?.[0], 'a whole number is needed')),
)

/** Options that several verbs share. */
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
    createSchemaParser(p99Ms, text => assertParsed(readMilliseconds(text), 'a time such as 20ms or 1.5s is needed')),
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

/** Options of a cluster. @type {SharedName[]} */
export const CLUSTER = ['context', 'node', 'loadNode', 'namespace', 'image', 'samples']

/**
 * Adds options that several verbs share.
 * @param {Command} command
 * @param {SharedName[]} names
 * @returns {Command} the same command
 */
export function withOptions(command, ...names) {
  for (const name of names) command.addOption(SHARED[name])
  return command
}

/**
 * Adds the argument `experiment` and the options of all experiments. Help shows only those that the named experiment
 * takes.
 * @param {Command} command
 * @returns {Command} the same command
 */
export function withExperiment(command) {
  withOptions(command, 'maxMinutes', 'yes')
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
  return withOptions(command, 'noPin', 'generator')
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
 * Parses the value of --measure; names of older versions are accepted.
 * @param {string} text
 * @returns {('cost' | 'capacity')[]} cost first
 * @throws {InvalidArgumentError} for another kind
 */
function parseMeasuredKinds(text) {
  const kinds = parseList(text).map(name => OLD_KINDS[name] ?? name)
  if (kinds.some(name => name !== 'cost' && name !== 'capacity'))
    throw new InvalidArgumentError('cost, capacity, or both')
  return MEASURED.filter(name => kinds.includes(name))
}

/**
 * Lists the options that help shows: those that the experiment takes.
 * @this {Help}
 * @param {Command} command
 * @returns {Option[]}
 */
function listVisibleOptions(command) {
  const experiment = readExperimentOfHelp(command)
  return Help.prototype.visibleOptions
    .call(this, command)
    .filter(option => hasOption(option.attributeName(), experiment))
}

/**
 * Says whether an experiment has an option.
 * @param {string} attribute the option's name, in camel case
 * @param {ReturnType<typeof readAnyExperiment>} experiment
 */
function hasOption(attribute, experiment) {
  if ('kind' in experiment) return ['help', ...COMPUTED_OPTIONS].includes(attribute)
  const axis = AXIS_OPTIONS.find(axis => axis.attribute === attribute)
  const kinds = listKinds(experiment)
  if (axis && !axis.kinds.some(kind => kinds.includes(kind))) return false
  return isAllowed(axis?.name ?? CONSTRAINED[attribute] ?? attribute, experiment)
}

/**
 * Reads the experiment that a command with --help names.
 * @param {Command} command
 * @returns {ReturnType<typeof readAnyExperiment>}
 * @throws {UsageError} if it cannot be read
 */
function readExperimentOfHelp(command) {
  try {
    return readAnyExperiment(findExperimentName(command))
  } catch (error) {
    // commander also lists options to suggest one for a typo, and prints that error itself: show the default's then.
    if (command.args.some(word => HELP.includes(word)) || !(error instanceof UsageError)) throw error
    return readAnyExperiment(DEFAULT_EXPERIMENT)
  }
}

/**
 * Finds the experiment that a command names; by default DEFAULT_EXPERIMENT.
 * @param {Command} command
 * @returns {string}
 */
const findExperimentName = command => command.args.find(word => !word.startsWith('-')) ?? DEFAULT_EXPERIMENT

/**
 * Reads the values of the axes that options set, except the CPU limit of sidecars, which is `cpu`.
 * @param {object} options parsed by commander
 * @returns {Partial<Record<Exclude<AxisName, 'cpuLimitCores'>, unknown[]>>} only the axes that are set
 */
export function readAxes(options) {
  const values = new Map(Object.entries(options).filter(([, value]) => value !== undefined))
  const axisOptions = AXIS_OPTIONS.filter(({ name, attribute }) => name !== 'cpuLimitCores' && values.has(attribute))
  // An option without a placeholder is true, which is its axis' one value.
  return Object.fromEntries(axisOptions.map(({ name, attribute }) => [name, [values.get(attribute)].flat()]))
}

/**
 * Creates the option --image, which may be repeated. Its value is checked by `assertImageTools`.
 * @param {string} where the beginning of its help
 * @returns {Option} its value is the image by the name of the tool
 */
export function createImageOption(where) {
  const option = new Option('--image <tool=image>', `${where}another image, such as pipy=registry/pipy:1.5`)
  return option.default({}).argParser((text, /** @type {Record<string, string>} */ before) => {
    const [, tool, image] = /^([a-z0-9]+)=(\S+)$/.exec(text) ?? []
    if (tool) return { ...before, [tool]: image }
    throw new InvalidArgumentError('TOOL=IMAGE is needed, such as pipy=registry/pipy:1.5')
  })
}

/** Creates the option --features of a verb that takes one set, and no list of sets. @returns {Option} */
export function createFeaturesOption() {
  const help = `of each sidecar: lean, all, or names joined by +, such as access-log+metrics; names: ${FEATURE_NAMES.join(', ')}`
  return new Option('--features <set>', help).argParser(parseOnAxis('features'))
}

/** Options of one request, and the axis of each. */
const REQUEST_OPTIONS = REQUEST_AXES.map(axis => {
  const { flags, help } = /** @type {import('../model/axes/axis.js').AxisOption} */ (AXES[axis].option)
  const option = new Option(flags.replace('<list>', '<value>'), help).argParser(parseOnAxis(axis))
  return { axis, option, attribute: option.attributeName() }
})

/**
 * Adds the options of one request.
 * @param {Command} command
 * @param {(typeof REQUEST_AXES)[number][]} [except] axes whose options are not added
 * @returns {Command} the same command
 */
export function withRequest(command, except = []) {
  for (const { axis, option } of REQUEST_OPTIONS) if (!except.includes(axis)) command.addOption(option)
  return command
}

/**
 * Reads the axes of one request that options set.
 * @param {object} options parsed by commander
 * @returns {RequestOptions} only the axes that are set
 */
export function readRequest(options) {
  const values = /** @type {Record<string, unknown>} */ (options)
  const requestOptions = REQUEST_OPTIONS.filter(({ attribute }) => values[attribute] !== undefined)
  return Object.fromEntries(requestOptions.map(({ axis, attribute }) => [axis, values[attribute]]))
}

/**
 * Renders the axes of one request as arguments of a command.
 * @param {RequestOptions} requests
 * @returns {string[]} []: no axis is set
 */
export function renderRequestOptions(requests) {
  return REQUEST_OPTIONS.flatMap(({ axis, option }) => {
    const value = requests[axis]
    const text = typeof value === 'number' ? `${value}${value > 0 ? 'B' : ''}` : value
    return text === undefined || text === null ? [] : [/** @type {string} */ (option.long), text]
  })
}

/**
 * Copies options without those of one request.
 * @template {object} Options
 * @param {Options} options
 * @returns {Options}
 */
export function withoutRequest(options) {
  const attributes = REQUEST_OPTIONS.map(({ attribute }) => attribute)
  return /** @type {Options} */ (
    Object.fromEntries(Object.entries(options).filter(([name]) => !attributes.includes(name)))
  )
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

/**
 * Parses a list of data planes. Whether the planes exist is not checked.
 * @param {string} text the value of --planes
 * @returns {PlaneChoice[]} the path of a variant is absolute
 * @throws {InvalidArgumentError} if an entry is empty or repeated
 */
export function parsePlanes(text) {
  return parseList(text).map(entry => {
    const choice = parseChoice(entry)
    return choice.variant === null ? choice : { ...choice, variant: path.resolve(choice.variant) }
  })
}

/**
 * Splits a list at its commas.
 * @param {string} text
 * @returns {string[]} without blanks around the items
 * @throws {InvalidArgumentError} if an entry is empty or repeated
 */
function parseList(text) {
  const items = text.split(',').map(item => item.trim())
  if (items.includes('')) throw new InvalidArgumentError('an entry of the list is empty')
  if (new Set(items).size < items.length) throw new InvalidArgumentError('an entry stands twice in the list')
  return items
}

/**
 * Creates a parser of one value of an axis.
 * @param {AxisName} name
 * @returns {(text: string) => any} it throws InvalidArgumentError for a text that is no value of the axis
 */
export function parseOnAxis(name) {
  const { option, schema } = AXES[name]
  const readFile = FILES[name]
  if (readFile) return readFile
  return createSchemaParser(schema, createArgumentParser(option?.read ?? (text => text)))
}

/**
 * Creates a parser whose errors commander prints with the option's name: it throws InvalidArgumentError in place of
 * UsageError.
 * @template T
 * @param {(text: string) => T} read parses a text, and throws UsageError
 * @returns {(text: string) => T}
 */
function createArgumentParser(read) {
  return (/** @type {string} */ text) => {
    try {
      return read(text)
    } catch (error) {
      throw error instanceof UsageError ? new InvalidArgumentError(error.message) : error
    }
  }
}

/**
 * Creates a parser of a value that a schema checks.
 * @template T
 * @param {import('zod').ZodType<T>} schema
 * @param {(text: string) => unknown} read converts the text to a value for the schema
 * @returns {(text: string) => T} it throws InvalidArgumentError with the reason for any other value
 */
function createSchemaParser(schema, read) {
  return (/** @type {string} */ text) => {
    const result = schema.safeParse(read(text))
    if (result.success) return result.data
    // The last issue has the reason, also for a number that is no safe integer.
    const [issue] = result.error.issues.slice(-1)
    const isUnknownName = issue.code === 'invalid_value'
    throw new InvalidArgumentError(
      isUnknownName ? `${JSON.stringify(text)} is none of ${issue.values.join(', ')}` : `${issue.message}.`,
    )
  }
}

/**
 * Asserts that a text was parsed.
 * @template T
 * @param {T | null | undefined} value null or undefined: it was not parsed
 * @param {string} words the message of the error
 * @returns {T}
 * @throws {InvalidArgumentError} if it was not parsed
 */
function assertParsed(value, words) {
  if (value === null || value === undefined) throw new InvalidArgumentError(words)
  return value
}

/**
 * Appends a value of an option that may be repeated.
 * @param {string} value
 * @param {string[]} before the values of the earlier occurrences
 * @returns {string[]} a new list
 */
export function collectValues(value, before) {
  return [...before, value]
}
