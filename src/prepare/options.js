import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { Help, InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../lib/errors.js'
import { readMilliseconds } from '../lib/units.js'
import { parseChoice } from '../model/arms.js'
import { readCount } from '../model/axes/read.js'
import { AXES, AXIS_NAMES } from '../model/axes.js'
import { p99Ms, precisionWidth, realSidecars, rounds, seed } from '../model/bounds.js'
import { GENERATORS } from '../model/generators.js'
import { kindsOf } from '../model/kinds.js'
import { PROFILES } from '../plan/experiment.js'
import { readAnyExperiment } from './read-experiment.js'

/**
 * The words of the command line that several verbs share, and how each is read.
 * @import { Command } from 'commander'
 * @import { AxisName, PlaneChoice } from '../model/types.ts'
 * @import { TrialKind } from '../model/kinds.js'
 */

const DEFAULT_MINUTES = 60
const HELP = ['-h', '--help']

export const parseCount = asArgument(readCount)

/** The options of the axes, the cap of sidecars first: it is asked for most. */
const AXIS_OPTIONS = /** @type {AxisName[]} */ ([
  'capCores',
  ...AXIS_NAMES.filter(name => name !== 'capCores'),
]).flatMap(name => {
  const { option: words, kinds } = AXES[name]
  if (words === undefined) return []
  const option = new Option(words.flags, words.help)
  // Without a placeholder it takes no text to read.
  if (option.required) option.argParser(parseAxis(name))
  return [{ name, kinds, option, attribute: option.attributeName() }]
})

export const TARGET = () =>
  new Option('--target <name>', 'where services run').choices(['local', 'kubernetes']).default('local')

export const GENERATOR = () =>
  new Option('--generator <name>', 'what makes the load; wrk: closed loops only, at a fraction of the CPU of k6')
    .choices(GENERATORS)
    .default(GENERATORS[0])

/** Kinds of trial that can be asked each of these, beside axes; the other options are for all. @type {Record<string, TrialKind[]>} */
const KINDS = {
  control: ['load', 'rollout', 'growth'],
  real: ['rollout'],
  rounds: ['turns', 'load', 'rollout', 'growth'],
  precision: ['turns', 'load'],
  p99: ['search'],
}

const DEFAULT_EXPERIMENT = 'cap'

/**
 * The options of an experiment. All are accepted of every one, and an experiment refuses what it cannot use; help shows those
 * of its kind.
 * @param {Command} command
 */
export function withExperiment(command) {
  withLength(command)
    .argument('[experiment]', 'an experiment of bench/experiments, or a file', DEFAULT_EXPERIMENT)
    .option('--planes <list>', 'data planes, each a name, name:profile, name@control or name=./scripts', parsePlanes)
    .option(
      '--control <list>',
      'what configures sidecars; pipy: repo; envoy: file, ads, ads-delta, ads-bare; default: the first of a plane',
      parseList,
    )
  for (const axis of AXIS_OPTIONS) command.addOption(axis.option)
  return command
    .option('--real <n>', 'Envoys over ADS beyond n, at least 30, are simulated; default: beyond 400', parseReal)
    .option('--rounds <n>', 'how often each arm is measured', parseRounds)
    .option('--profile <name>', `rounds and lengths: ${Object.keys(PROFILES).join(', ')}`, 'standard')
    .option('--seed <n>', 'seed of the random order of the arms', parseSeed)
    .option('--no-pin', 'let generator, applications and sidecars share CPUs')
    .addOption(GENERATOR())
    .addOption(
      new Option('--app <name>', 'what serves the applications; default: pipy where it is here').choices([
        'pipy',
        'node',
      ]),
    )
    .option('--p99 <time>', 'the highest p99 that counts as held, such as 20ms', parseMilliseconds)
    .configureHelp({ visibleOptions })
    .addHelpText('after', () => {
      const other = `npm run ${command.name()} -- EXPERIMENT --help`
      return `\nThe options are those of the experiment ${nameAsked(command)}; those of another: ${other}`
    })
}

/**
 * The options that help shows: those of the experiment's kind.
 * @this {Help}
 * @param {Command} command
 */
function visibleOptions(command) {
  const asked = kindsAsked(command)
  return Help.prototype.visibleOptions.call(this, command).filter(option => {
    const axis = AXIS_OPTIONS.find(({ attribute }) => attribute === option.attributeName())
    const kinds = axis?.kinds ?? KINDS[option.attributeName()]
    return kinds === undefined || kinds.some(kind => asked.includes(kind))
  })
}

/**
 * @param {Command} command
 * @returns {string[]}
 * @throws {UsageError} when help is asked for an experiment that cannot be read
 */
function kindsAsked(command) {
  try {
    const experiment = readAnyExperiment(nameAsked(command))
    return 'kind' in experiment ? [experiment.kind] : kindsOf(experiment)
  } catch (error) {
    // commander also lists the options to suggest one for a word that it does not know, and says itself what is wrong.
    if (command.args.some(word => HELP.includes(word)) || !(error instanceof UsageError)) throw error
    return ['load']
  }
}

/** The experiment whose help is asked for. @param {Command} command */
function nameAsked(command) {
  return command.args.find(word => !word.startsWith('-')) ?? DEFAULT_EXPERIMENT
}

/**
 * The values that were asked for on axes, but for the cap of sidecars.
 * @param {Record<string, any>} options by the attributes of commander
 * @returns {Partial<Record<Exclude<AxisName, 'capCores'>, any[]>>}
 */
export function readAxes(options) {
  const given = AXIS_OPTIONS.filter(({ name, attribute }) => name !== 'capCores' && options[attribute] !== undefined)
  // An option without a placeholder is true, which is its axis' one value.
  return Object.fromEntries(given.map(({ name, attribute }) => [name, [options[attribute]].flat()]))
}

/** @param {Command} command */
export function withPrecision(command) {
  return command.option(
    '--precision <width>',
    'measure rounds until the interval of CPU per request is as narrow as this, such as 3%, for every pair; ends at --max-minutes',
    parsePrecision,
  )
}

/** @param {Command} command */
export function withLength(command) {
  return command
    .option('--max-minutes <n>', 'refuse a longer run, unless --yes is given', parseCount, DEFAULT_MINUTES)
    .option('--yes', 'run it whatever its length')
}

/** @param {Command} command */
export function withLoadHost(command) {
  return command
    .option('--load-host <user@host>', 'make the load on another machine, over ssh', parseLoadHost)
    .option(
      '--address <a.b.c.d>',
      'with --load-host: the address of this machine to which the load goes; default: the one that it sees',
      parseIpv4,
    )
}

/**
 * @param {Command} command
 * @param {string[]} tools names of those that have images
 */
export function withCluster(command, tools) {
  return command
    .option('--context <name>', 'on Kubernetes: the context of the kubeconfig')
    .option('--node <name>', 'on Kubernetes: the node of the services, by name or label=value')
    .option('--load-node <name>', 'on Kubernetes: the node of the load; default: that of the services')
    .option('--namespace <name>', 'on Kubernetes: the namespace to create; <name>-reader is created, too')
    .option(
      '--image <tool=image>',
      'on Kubernetes: another image, such as pipy=registry/pipy:1.5',
      createImageParser(tools),
      {},
    )
    .addOption(
      new Option('--samples <source>', 'on Kubernetes: the source of CPU and memory counters')
        .choices(['cgroup', 'kubelet'])
        .default('cgroup'),
    )
}

/**
 * @param {string} text
 * @returns {PlaneChoice[]}
 */
export function parsePlanes(text) {
  return parseList(text).map(entry => {
    const choice = parseChoice(entry)
    if (choice.variant === null) return choice
    const variant = path.resolve(choice.variant)
    if (!existsSync(path.join(variant, 'main.js'))) {
      const cut = text.includes(',') ? '; a comma ends an entry, so a folder with one in its name cannot be named' : ''
      throw new UsageError(
        `--planes ${entry}: ${variant} has no main.js: name a folder of Pipy scripts such as pipy-scripts/${cut}`,
      )
    }
    return { ...choice, variant }
  })
}

/** @param {string} text */
function parseLoadHost(text) {
  // One that begins with a hyphen would be an option of ssh.
  if (!/^[^\s-]\S*$/.test(text)) throw new InvalidArgumentError('a host as ssh takes it is needed, such as user@host')
  return text
}

/** @param {string} text */
function parseIpv4(text) {
  if (isIP(text) !== 4) throw new InvalidArgumentError('an IPv4 address such as 10.0.0.1 is needed')
  return text
}

/** @param {string} text */
function parseList(text) {
  const items = text.split(',').map(item => item.trim())
  if (items.some(item => item === '')) throw new InvalidArgumentError('an entry of the list is empty')
  if (new Set(items).size < items.length) throw new InvalidArgumentError('an entry stands twice in the list')
  return items
}

/**
 * @param {AxisName} name
 * @returns {(text: string) => any} reads a list of values, or the word that stands for one
 */
function parseAxis(name) {
  const parse = parseOnAxis(name)
  const all = AXES[name].option?.all
  return text => (text === all ? text : parseList(text).map(entry => parse(entry)))
}

/**
 * @param {AxisName} name
 * @returns {(text: string) => any} reads one value
 */
export function parseOnAxis(name) {
  const { option, schema } = AXES[name]
  const parse = asArgument(option?.read ?? (text => text))
  return text => assertFits(schema, parse(text), text)
}

/**
 * A reader whose errors commander says with the option.
 * @template T
 * @param {(text: string) => T} read
 * @returns {(text: string) => T}
 */
function asArgument(read) {
  return text => {
    try {
      return read(text)
    } catch (error) {
      throw error instanceof UsageError ? new InvalidArgumentError(error.message) : error
    }
  }
}

/**
 * @param {import('zod').ZodType} schema
 * @param {unknown} value
 * @param {string} text as it was written
 */
function assertFits(schema, value, text) {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  // The last: of a number that is no safe integer either, it is the one with the reason.
  const issue = /** @type {any} */ (result.error.issues.at(-1))
  throw new InvalidArgumentError(
    issue.values ? `${JSON.stringify(text)} is none of ${issue.values.join(', ')}` : `${issue.message}.`,
  )
}

/** @param {string} text */
function parseReal(text) {
  return assertFits(realSidecars, parseCount(text), text)
}

/** @param {string} text */
function parsePrecision(text) {
  const [, number] = /^(\d+(?:\.\d+)?)%$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('a width in percent such as 3% is needed')
  return assertFits(precisionWidth, Number(number) / 100, text)
}

/** @param {string} text */
function parseRounds(text) {
  return assertFits(rounds, parseCount(text), text)
}

/**
 * @param {string} text
 * @returns {number} milliseconds
 */
export function parseMilliseconds(text) {
  const milliseconds = readMilliseconds(text)
  if (milliseconds === null) throw new InvalidArgumentError('a time such as 20ms or 1.5s is needed')
  return assertFits(p99Ms, milliseconds, text)
}

/**
 * @param {string} value
 * @param {string[]} before
 */
export function collect(value, before) {
  return [...before, value]
}

/**
 * @param {string[]} tools names
 * @returns {(text: string, before: Record<string, string>) => Record<string, string>}
 */
export function createImageParser(tools) {
  return (text, before) => {
    const [, tool, image] = /^([a-z0-9]+)=(\S+)$/.exec(text) ?? []
    if (!tools.includes(tool))
      throw new InvalidArgumentError(`TOOL=IMAGE is needed, with TOOL one of ${tools.join(', ')}`)
    return { ...before, [tool]: image }
  }
}

/** @param {string} text */
export function parseSeed(text) {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number is needed')
  return assertFits(seed, Number(text), text)
}
