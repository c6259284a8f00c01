import { existsSync } from 'node:fs'
import { isIP } from 'node:net'
import path from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../lib/errors.js'
import { readBytes, readMilliseconds } from '../lib/units.js'
import { parseChoice } from '../model/arms.js'
import { AXES } from '../model/axes.js'
import { ALGORITHM_NAMES } from '../model/balance.js'
import { p99Ms, precisionWidth, realSidecars, rounds, seed } from '../model/bounds.js'
import { FEATURE_NAMES } from '../model/features.js'
import { GENERATORS } from '../model/generators.js'
import { PROFILES } from '../plan/experiment.js'

/**
 * The words of the command line that several verbs share, and how each is read.
 * @import { Command } from 'commander'
 * @import { AxisName, PlaneChoice } from '../model/types.ts'
 */

const DEFAULT_MINUTES = 60

export const TARGET = () =>
  new Option('--target <name>', 'where services run').choices(['local', 'kubernetes']).default('local')

export const GENERATOR = () =>
  new Option('--generator <name>', 'what makes the load; wrk: closed loops only, at a fraction of the CPU of k6')
    .choices(GENERATORS)
    .default(GENERATORS[0])

/** @param {Command} command */
export function withExperiment(command) {
  return withLength(command)
    .argument('[experiment]', 'an experiment of bench/experiments, or a file', 'cap')
    .option('--planes <list>', 'data planes, each a name, name:profile, name@control or name=./scripts', parsePlanes)
    .option(
      '--control <list>',
      'rollout, reload: what configures sidecars; pipy: repo; envoy: file, ads, ads-delta, ads-bare; default: the first of a plane',
      parseList,
    )
    .option('--link <list>', 'links: ratings, gateway-ratings, pair', parseList)
    .option('--cpu <list>', 'CPU limit of each sidecar in cores, such as 0.5,1; or none', parseCaps)
    .option('--users <list>', 'closed loop: virtual users; open loop: the most requests at a time', parseAxis('users'))
    .option('--rate <list>', 'open loop: requests per second (this measures latency)', parseAxis('ratePerSecond'))
    .option('--payload <list>', 'body sizes, posted and echoed, such as 1KiB', parseAxis('payloadBytes'))
    .option('--services <list>', 'how many copies of the last service of the link', parseAxis('services'))
    .option(
      '--sidecars <list>',
      'rollout: how many sidecars the control plane configures; on Kubernetes, a pod each',
      parseAxis('sidecars'),
    )
    .option(
      '--real <n>',
      'rollout: Envoys over ADS beyond n, at least 30, are simulated; default: beyond 400',
      parseReal,
    )
    .option(
      '--control-cpu <list>',
      'rollout: CPU limit of the control plane, such as 0.5,none',
      parseAxis('controlCapCores'),
    )
    .option(
      '--control-memory <list>',
      'rollout: memory limit of the control plane, such as 256MiB',
      parseAxis('controlMemoryBytes'),
    )
    .option('--shards <list>', 'rollout: how many control planes share the sidecars', parseAxis('shards'))
    .option(
      '--assignment <list>',
      `of sidecars to shards: ${ALGORITHM_NAMES.join(', ')}; default: round-robin`,
      parseAxis('assignment'),
    )
    .option('--sizes <list>', 'services known to each sidecar of a rollout: equal, random', parseAxis('sizes'))
    .option('--remove-shard', 'rollout: end the last of the shards, and move its sidecars to the others')
    .option('--commit-rate <list>', 'rollout: the most commits of a change a second', parseAxis('commitsPerSecond'))
    .option('--concurrency <list>', 'rollout: commits of a change at once; default: 4', parseAxis('commitsAtOnce'))
    .option('--tls <list>', 'between sidecars: plaintext, ecdsa-p256, rsa-2048', parseAxis('tls'))
    .option('--protocol <list>', 'between sidecars: http/1.1, http/2', parseAxis('protocol'))
    .option('--workers <list>', 'worker threads of each sidecar; default: its cap, rounded up', parseAxis('workers'))
    .option('--memory <list>', 'memory limit of each sidecar, such as 64MiB', parseAxis('memoryLimitBytes'))
    .option(
      '--features <list>',
      `of each sidecar: lean, all, or names joined by +, such as lean,access-log+metrics; names: ${FEATURE_NAMES.join(', ')}`,
      parseAxis('features'),
    )
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
    .option('--p99 <time>', 'search: the highest p99 that counts as held, such as 20ms', parseMilliseconds)
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
function parseCaps(text) {
  return text === 'none' ? text : parseAxis('capCores')(text)
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
 * @returns {(text: string) => any[]}
 */
function parseAxis(name) {
  const parse = parseOnAxis(name)
  return text => parseList(text).map(entry => parse(entry))
}

/** How values are written that are not words. @type {Partial<Record<AxisName, (text: string) => number | null>>} */
const READ = {
  users: parseCount,
  ratePerSecond: parseCount,
  services: parseCount,
  sidecars: parseCount,
  shards: parseCount,
  commitsPerSecond: parseCount,
  commitsAtOnce: parseCount,
  workers: parseCount,
  payloadBytes: parseSize,
  memoryLimitBytes: parseSize,
  capCores: parseCores,
  controlCapCores: text => (text === 'none' ? null : parseCores(text)),
  controlMemoryBytes: text => (text === 'none' ? null : parseSize(text)),
}

/**
 * @param {AxisName} name
 * @returns {(text: string) => any} reads one value
 */
export function parseOnAxis(name) {
  const read = READ[name] ?? (text => text)
  return text => assertFits(AXES[name].schema, read(text), text)
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
function parseCores(text) {
  const cores = Number(text)
  if (!(cores > 0) || !Number.isFinite(cores))
    throw new InvalidArgumentError('caps are positive numbers of cores such as 0.25,1, or the word none')
  return cores
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
export function parseCount(text) {
  if (!/^[1-9]\d*$/.test(text) || !Number.isFinite(Number(text)))
    throw new InvalidArgumentError('a whole number above 0 is needed')
  return Number(text)
}

/** @param {string} text */
export function parseSize(text) {
  const bytes = readBytes(text)
  if (bytes !== null) return bytes
  throw new InvalidArgumentError(
    /^[\d.]+\s*(?:[KMG]i?)?B?$/.test(text) ? 'a size above 0 is needed' : 'a size such as 64MiB is needed',
  )
}

/** @param {string} text */
export function parseSeed(text) {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number is needed')
  return assertFits(seed, Number(text), text)
}
