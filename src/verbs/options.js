import { existsSync } from 'node:fs'
import path from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { UsageError } from '../lib/errors.js'
import { parseChoice } from '../model/arms.js'
import { AXES } from '../model/axes.js'
import { PROFILES } from '../plan/experiment.js'

/**
 * The words of the command line that several verbs share, and how each is read.
 * @import { Command } from 'commander'
 * @import { AxisName, PlaneChoice } from '../model/types.ts'
 */

const DEFAULT_MINUTES = 60

export const TARGET = () =>
  new Option('--target <name>', 'where services run').choices(['local', 'kubernetes']).default('local')

/** @param {Command} command */
export function withExperiment(command) {
  return command
    .argument('[experiment]', 'an experiment of bench/experiments, or a file', 'cap')
    .option('--planes <list>', 'data planes, each a name, name:profile or name=./scripts', parsePlanes)
    .option('--link <list>', 'links: ratings, gateway-ratings, pair', parseList)
    .option('--cpu <list>', 'CPU limit of each sidecar in cores, such as 0.5,1; or none', parseCaps)
    .option('--users <list>', 'closed loop: virtual users; open loop: the most requests at a time', parseCounts)
    .option('--rate <list>', 'open loop: requests per second (this measures latency)', parseCounts)
    .option('--payload <list>', 'body sizes, posted and echoed, such as 1KiB', parseSizes)
    .option('--services <list>', 'how many copies of the last service of the link', parseCounts)
    .option('--tls <list>', 'between sidecars: plaintext, ecdsa-p256, rsa-2048', parseAxis('tls'))
    .option('--protocol <list>', 'between sidecars: http/1.1, http/2', parseAxis('protocol'))
    .option('--workers <list>', 'worker threads of each sidecar; default: its cap, rounded up', parseCounts)
    .option('--memory <list>', 'memory limit of each sidecar, such as 64MiB', parseSizes)
    .option('--rounds <n>', 'how often each arm is measured', parseCount)
    .option('--profile <name>', `rounds and lengths: ${Object.keys(PROFILES).join(', ')}`, 'standard')
    .option('--seed <n>', 'seed of the random order of the arms', parseSeed)
    .option('--no-pin', 'let generator, applications and sidecars share CPUs')
    .addOption(
      new Option('--app <name>', 'what serves the applications; default: pipy where it is here').choices([
        'pipy',
        'node',
      ]),
    )
    .option('--p99 <time>', 'search: the highest p99 that counts as held, such as 20ms', parseMilliseconds)
    .option('--max-minutes <n>', 'refuse a longer run, unless --yes is given', parseCount, DEFAULT_MINUTES)
    .option('--yes', 'run it whatever its length')
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
      throw new UsageError(
        `--planes ${entry}: ${variant} has no main.js: name a folder of Pipy scripts such as pipy-scripts/`,
      )
    }
    return { ...choice, variant }
  })
}

/** @param {string} text */
function parseCaps(text) {
  if (text === 'none') return text
  return parseList(text).map(entry => {
    const cap = Number(entry)
    if (!(cap > 0) || !Number.isFinite(cap))
      throw new InvalidArgumentError('caps are positive numbers of cores such as 0.25,1, or the word none')
    return cap
  })
}

/** @param {string} text */
function parseList(text) {
  const items = text.split(',').map(item => item.trim())
  if (items.some(item => item === '')) throw new InvalidArgumentError('an entry of the list is empty')
  if (new Set(items).size < items.length) throw new InvalidArgumentError('an entry stands twice in the list')
  return items
}

/** @param {string} text */
function parseCounts(text) {
  return parseList(text).map(parseCount)
}

/** @param {string} text */
function parseSizes(text) {
  return parseList(text).map(parseSize)
}

/**
 * @param {AxisName} name
 * @returns {(text: string) => unknown[]}
 */
function parseAxis(name) {
  const { schema } = AXES[name]
  return text =>
    parseList(text).map(entry => {
      const result = schema.safeParse(entry)
      if (result.success) return result.data
      const { values } = /** @type {any} */ (result.error.issues[0])
      throw new InvalidArgumentError(`"${entry}" is none of ${values.join(', ')}`)
    })
}

/**
 * @param {string} text
 * @returns {number} milliseconds
 */
export function parseMilliseconds(text) {
  const [, number, unit] = /^(\d+(?:\.\d+)?)(ms|s)$/.exec(text) ?? []
  if (!(Number(number) > 0)) throw new InvalidArgumentError('a time such as 20ms or 1.5s is needed')
  return Number(number) * (unit === 's' ? 1000 : 1)
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
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('a whole number above 0 is needed')
  return Number(text)
}

/** @param {string} text */
export function parseSize(text) {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*((?:[KMG]i?)?B?)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('a size such as 64MiB is needed')
  const bytes = Number(number) * (unit.includes('i') ? 1024 : 1000) ** Math.max(0, 'BKMG'.indexOf(unit[0]))
  if (!(bytes >= 1)) throw new InvalidArgumentError('a size above 0 is needed')
  return Math.round(bytes)
}

/** @param {string} text */
export function parseSeed(text) {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number is needed')
  return Number(text)
}
