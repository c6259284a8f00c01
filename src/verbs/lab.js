import { setMaxListeners } from 'node:events'
import path from 'node:path'
import { InvalidArgumentError } from 'commander'
import { breakDown, compareCounts } from '../lab/comparison.js'
import { findSide } from '../lab/sides.js'
import { renderLab } from '../lab/text.js'
import { judgeThresholds, parseLabThreshold } from '../lab/threshold.js'
import { UsageError } from '../lib/errors.js'
import { EXIT } from '../lib/exit-status.js'
import { openLab } from '../prepare/open-lab.js'
import { collect, parseCount, parseOnAxis } from '../prepare/options.js'
import { openSite } from '../prepare/preparation.js'
import { readTopology } from '../prepare/read-experiment.js'
import { writeWhole } from '../records/files.js'
import { addLabNew } from './lab-new.js'
import { countSaves } from './lab-watch.js'
import { readReportFile } from './report-assets.js'

/**
 * `lab`: what a change to a Pipy pipeline costs, in instructions a request.
 * @import { Command } from 'commander'
 * @import { SidecarCount } from '../lab/count.js'
 * @import { Sides } from '../lab/comparison.js'
 * @import { Found } from '../lab/text.js'
 * @import { Lab } from '../prepare/open-lab.js'
 * @import { Context } from './program.js'
 */

const LINKS = ['pair', 'gateway-ratings']
/** Of a save: fewer, so that the answer is there soon. */
const ON_SAVE = { link: ['pair'], requests: 100 }
const UNDER_LOAD = { link: ['pair'] }
/** Options of a count alone. */
const NOT_SAMPLED = ['watch', 'requests', 'threshold']

/**
 * @param {Command} verb
 * @param {Context} context
 */
export function addLab(verb, context) {
  const { print, say, end, signal } = context
  addLabNew(verb, context)
  verb
    .argument('[folder]', 'the scripts to count', 'pipy-scripts')
    .option(
      '--against <folder>',
      'the scripts to hold them against, a folder or git:REF; default: pipy-scripts, and of pipy-scripts git:HEAD',
    )
    .option('--link <list>', 'links; default: pair,gateway-ratings; with --watch or --profile pair', parseLinks)
    .option(
      '--requests <n>',
      'requests to count, after a quarter as many; default: 2000, with --watch 100',
      parseRequests,
    )
    .option('--payload <size>', 'body size, posted and echoed, such as 1KiB', parseOnAxis('payloadBytes'))
    .option('--pipy <path>', 'the program; given twice: that of the old side, then that of the new', collect, [])
    .option('--functions <n>', 'how many functions to list of each sidecar, beside those that are gone', parseCount, 10)
    .option('--no-parity', 'count scripts that do other work, too: leave out the parity corpus')
    .option('--threshold <expr>', "a ratio that must hold, such as 'new/old instructions <= 1.01'", collect, [])
    .option('--watch', 'count again after each save, until Ctrl-C; each --threshold is judged anew, without a status')
    .option('--profile', 'where the CPU time goes under load: samples by perf, instead of a count')
    .option('--out <dir>', 'write lab.html, with flame graphs, and lab.json there')
    .option('--json', 'print lab.json instead of the tables')
    .action(async (folder, options) => {
      const isSampled = options.profile === true
      const odd = NOT_SAMPLED.find(name => isSampled && verb.getOptionValueSource(name) === 'cli')
      if (odd) throw new UsageError(`--profile samples a load: --${odd} belongs to a count, leave one of them out`)
      const usual = { link: LINKS, requests: 2000, ...(options.watch && ON_SAVE), ...(isSampled && UNDER_LOAD) }
      const { link, requests } = { ...usual, ...options }
      const services = link.flatMap((/** @type {string} */ name) => readTopology(name).services.map(s => s.name))
      const thresholds = options.threshold.map((/** @type {string} */ text) => parseLabThreshold(text, services))
      const side = findSide(folder)
      if (options.watch) assertOldStays(side.scripts, options)
      const site = await openSite({ target: 'local', cpu: 'none', out: options.out }, context)
      if (site === null) return
      /** @type {Lab | null} */
      let lab = null
      const show = async (/** @type {Sides} */ counts, /** @type {string[]} */ notes = []) => {
        const labels = /** @type {Lab} */ (lab).labels
        const found = { labels, notes, rows: compareCounts(counts), breakdowns: breakDown(counts, options) }
        if (options.out) await writeFound(options.out, { found, counts })
        print(options.json ? JSON.stringify(found, null, 2) : renderLab(found))
        if (options.out) say(`to look at: ${path.join(options.out, 'lab.html')}`)
        const { held, crossed, undecided } = judgeThresholds(thresholds, found)
        for (const line of [...held, ...crossed, ...undecided]) say(line)
        // With --watch the scripts that are saved next may hold it.
        if (!options.watch && crossed.length + undecided.length > 0)
          end(crossed.length > 0 ? EXIT.thresholdCrossed : EXIT.nothingShown)
      }
      try {
        const { against = null, payload, pipy, parity } = options
        const asked = { site, side, against, link, payload, pipy, requests, hasHandshakes: !options.watch, isSampled }
        lab = await openLab(asked)
        await lab.checkProfiler(signal)
        const given = { lab, hasParity: parity, show, signal }
        if (options.watch) await countSaves({ ...given, folder: side.scripts, say })
        else {
          if (parity) await lab.checkParity(signal)
          if (isSampled) {
            say(`sampling ${link.join(' and ')} under load, each side twice, in turns`)
            const { notes, ...sides } = await lab.sample(signal)
            return await show(sides, notes)
          }
          say(`counting ${requests} requests of ${link.join(' and ')}, of both sides at once`)
          const [old, next] = await together(signal, [
            own => given.lab.count('old', own),
            own => given.lab.count('new', own),
          ])
          await show({ old, new: next })
        }
      } finally {
        lab?.close()
        await site.target.close()
      }
    })
}

/**
 * @param {string} scripts that are saved
 * @param {{ against?: string, pipy: string[] }} options
 * @throws {UsageError} where the old side, which --watch counts once, is the same scripts
 */
function assertOldStays(scripts, { against, pipy }) {
  const isSame = against ? path.resolve(against) === scripts : pipy.length === 2
  if (isSame)
    throw new UsageError(
      `--watch counts the old side once, and ${scripts} would be on both sides: name other scripts with --against`,
    )
}

/**
 * Does all at once; where one fails, the others are ended.
 * @param {AbortSignal} signal
 * @param {((signal: AbortSignal) => Promise<SidecarCount[]>)[]} tasks
 */
async function together(signal, tasks) {
  const failing = new AbortController()
  const own = AbortSignal.any([signal, failing.signal])
  // Every process and request of both sides listens to it.
  setMaxListeners(0, own)
  const running = tasks.map(task => task(own))
  for (const one of running) one.catch(error => failing.abort(error))
  await Promise.allSettled(running)
  return Promise.all(running).catch(error => {
    throw failing.signal.reason ?? error
  })
}

/**
 * @param {string} folder
 * @param {{ found: Found, counts: Sides }} given
 */
async function writeFound(folder, { found, counts }) {
  // What draws charts takes long to load.
  const { renderLabPage } = await import('../lab/page.js')
  writeWhole(folder, 'lab.json', `${JSON.stringify(found, null, 2)}\n`)
  writeWhole(folder, 'lab.html', renderLabPage({ ...found, counts, style: readReportFile('page/style.css') }))
}

/** @param {string} text */
function parseLinks(text) {
  const links = text.split(',')
  if (links.some(link => !LINKS.includes(link)) || new Set(links).size < links.length)
    throw new InvalidArgumentError(`a list of ${LINKS.join(', ')} is needed, each once at most`)
  return links
}

/** @param {string} text */
function parseRequests(text) {
  const requests = parseCount(text)
  if (requests < 100 || requests > 100_000) throw new InvalidArgumentError('100 to 100000 requests can be counted')
  return requests
}
