import path from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { isKitFolder, readSide } from '../lab/sides.js'
import { parseLabThreshold } from '../lab/threshold.js'
import { collectValues, createAxisParser, parseCount } from '../prepare/option-parsers.js'
import { createFeaturesOption } from '../prepare/options.js'
import { readTopology } from '../prepare/read-experiment.js'
import { addRequestOptions, readRequestOptions } from '../prepare/request-options.js'
import { withSite } from '../prepare/site.js'
import { LAB_OPTIONS } from '../request/constraints/lab.js'
import { assertCombination } from '../request/constraints.js'
import { compareLabSides } from './lab-compare.js'
import { addLabNew } from './lab-new.js'
import { countAndTimeSides } from './lab-time.js'

/**
 * @import { Command } from 'commander'
 * @import { Side } from '../lab/sides.js'
 */
/**
 * @typedef {object} LabOptions
 * @property {string} [against] the old scripts, a folder or git:REF; absent: as `chooseOldSide`
 * @property {string[]} link names of links
 * @property {number} requests to count on each side and link
 * @property {number} [payload] bytes
 * @property {string} [features]
 * @property {string[]} pipy paths of programs, that of the old side first; []: the one that `findTool` finds
 * @property {number} functions how many to list of each sidecar
 * @property {'plaintext' | 'ecdsa-p256'} [tls]
 * @property {boolean} parity equal work is tried
 * @property {string[]} threshold
 * @property {boolean} [details]
 * @property {boolean} [watch]
 * @property {boolean} [profile]
 * @property {boolean} [time]
 * @property {string} [out]
 * @property {boolean} [json]
 */

const LINKS = ['pair', 'gateway-ratings']
/** The link with one sidecar alone. */
const ALONE = 'ratings'
const REQUESTS = { default: 2000, least: 100, most: 100_000 }
/** With --watch: few requests, so that a count follows a save soon. */
const WATCH_DEFAULTS = { link: ['pair'], requests: 100 }
const PROFILE_DEFAULTS = { link: ['pair'] }
/** For scripts with a pipeline.yaml: a pipeline is one proxy alone, and few requests give its first number within seconds. */
const PIPELINE_DEFAULTS = { link: [ALONE], requests: 400 }

/** Adds `lab`, which counts the instructions per request of changed Pipy scripts. @type {import('./program.js').AddVerb} */
export function addLab(verb, context) {
  addLabNew(verb, context)
  defineLab(verb).action(async (folder, typedOptions) => {
    const side = readSide(folder)
    const options = addDefaults(typedOptions, side)
    const services = options.link.flatMap(name => readTopology(name).services.map(service => service.name))
    const thresholds = options.threshold.map(text => parseLabThreshold(text, services))
    assertLabOptions(verb, options, side)
    const count = (/** @type {string | undefined} */ into) =>
      withSite({ target: 'local', cpu: 'none', out: options.out }, context, site =>
        compareLabSides({ site, side, options, thresholds, into }, context),
      )
    const requestAxes = readRequestOptions(options)
    await (options.time ? countAndTimeSides({ side, ...options, requestAxes, count }, context) : count(undefined))
  })
}

/** Adds the argument and the options of `lab`. @param {Command} verb @returns {Command} the same command */
function defineLab(verb) {
  verb
    .argument('[folder]', 'the scripts to count', 'pipy-scripts')
    .option(
      '--against <folder>',
      'the scripts to hold them against, a folder or git:REF; default: pipy-scripts, and of pipy-scripts git:HEAD',
    )
    .option(
      '--link <list>',
      'links: pair, gateway-ratings, ratings (one sidecar alone); default: pair,gateway-ratings, with --watch or --profile pair, with a pipeline.yaml ratings',
      parseLinks,
    )
    .option(
      '--requests <n>',
      'requests to count, after a quarter as many; default: 2000, with --watch 100',
      parseRequestCount,
    )
    .option('--payload <size>', 'body size, posted and echoed, such as 1KiB', createAxisParser('payloadBytes'))
    .addOption(createFeaturesOption())
  // serviceTime and chunks are left out: a wait of the application takes no instructions of a sidecar.
  return addRequestOptions(verb, ['serviceTime', 'chunks'])
    .addOption(new Option('--tls <tls>', 'between sidecars, and to them').choices(['plaintext', 'ecdsa-p256']))
    .option('--pipy <path>', 'the program; given twice: that of the old side, then that of the new', collectValues, [])
    .option('--functions <n>', 'how many functions to list of each sidecar, beside those that are gone', parseCount, 10)
    .option('--no-parity', 'count scripts that do other work, too: leave out the equal-work check')
    .option('--threshold <expr>', "a ratio that must hold, such as 'new/old instructions <= 1.01'", collectValues, [])
    .option('--watch', 'count again after each save, until Ctrl-C; each --threshold is judged anew, without a status')
    .option('--profile', 'where the CPU time goes under load: samples by perf, instead of a count')
    .option('--time', 'then measure the CPU time of both, interleaved, in about two minutes')
    .option('--out <dir>', 'write lab.html, with flame graphs, and lab.json there')
    .option('--json', 'print lab.json instead of the answer')
    .addOption(
      new Option('--details', 'print every quantity, group and function instead of the answer').conflicts('json'),
    )
}

/**
 * Parses the value of --link: names of links that `lab` can count, divided by commas.
 * @param {string} text
 * @returns {string[]} at least one
 * @throws {InvalidArgumentError} for an unknown link, or one that is named twice
 */
function parseLinks(text) {
  const links = text.split(',')
  const known = [...LINKS, ALONE]
  if (links.every(link => known.includes(link)) && new Set(links).size === links.length) return links
  throw new InvalidArgumentError(`a list of ${known.join(', ')} is needed, each once at most`)
}

/**
 * Parses the value of --requests.
 * @param {string} text
 * @returns {number}
 * @throws {InvalidArgumentError} unless it is a whole number from REQUESTS.least to REQUESTS.most
 */
function parseRequestCount(text) {
  const requests = parseCount(text)
  if (requests >= REQUESTS.least && requests <= REQUESTS.most) return requests
  throw new InvalidArgumentError(`${REQUESTS.least} to ${REQUESTS.most} requests can be counted`)
}

/**
 * Adds the default links and number of requests to options that lack them. A pipeline's link comes before that of --profile and
 * --watch; for the number of requests, --watch comes before a pipeline.
 * @param {Omit<LabOptions, 'link' | 'requests'> & Partial<LabOptions>} options
 * @param {Side} side the new one
 * @returns {LabOptions}
 */
function addDefaults(options, { pipeline }) {
  return {
    link: LINKS,
    requests: REQUESTS.default,
    ...(options.watch && WATCH_DEFAULTS),
    ...(options.profile && PROFILE_DEFAULTS),
    ...(pipeline !== null && PIPELINE_DEFAULTS),
    ...(options.watch && { requests: WATCH_DEFAULTS.requests }),
    ...options,
  }
}

/**
 * Asserts that the options of `lab` can be combined.
 * @param {Command} verb
 * @param {LabOptions} options with their defaults
 * @param {Side} side the new one
 * @throws {import('../lib/errors.js').UsageError} with the message of the first broken constraint
 */
function assertLabOptions(verb, options, side) {
  const { against, pipy } = options
  const attributes = verb.options.map(option => option.attributeName())
  assertCombination(LAB_OPTIONS, {
    ...options,
    flags: attributes.filter(name => verb.getOptionValueSource(name) === 'cli'),
    side: { ...side, isKit: isKitFolder(side.scripts) },
    // Two programs without --against run the same scripts (`openSides`).
    isOnBothSides: against ? path.resolve(against) === side.scripts : pipy.length === 2,
  })
}
