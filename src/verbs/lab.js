import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { createLabAnswer } from '../lab/answer.js'
import { breakDown, compareCounts } from '../lab/comparison.js'
import { copyScripts, copyShortest, SHORTEST } from '../lab/new-scripts.js'
import { findSide, isKitScripts } from '../lab/sides.js'
import { renderChangedRows, renderLabDetails, renderSaves } from '../lab/text.js'
import { judgeThresholds, parseLabThreshold } from '../lab/threshold.js'
import { BenchError, EXIT, UsageError } from '../lib/errors.js'
import { quoteWord } from '../lib/quote-word.js'
import { renderCommand } from '../lib/render-command.js'
import { AXES } from '../model/arms.js'
import { createRequestKind, renderRequest } from '../model/requests.js'
import { draftPipeline, renderDraft } from '../prepare/draft-pipeline.js'
import { openLab } from '../prepare/open-lab.js'
import {
  collectValues,
  createFeaturesOption,
  parseCount,
  parseOnAxis,
  readRequest,
  withRequest,
} from '../prepare/options.js'
import { readTopology } from '../prepare/read-experiment.js'
import { withSite } from '../prepare/site.js'
import { writeAtomically, writeDocument } from '../records/files.js'
import { renderAnswerText } from '../report/answer/text.js'
import { LAB_OPTIONS } from '../request/constraints/lab.js'
import { assertCombination } from '../request/constraints.js'
import { runConcurrently } from '../run/lanes.js'
import { findPipelineFile, PIPELINE_FILE } from '../tools/pipeline-file.js'
import { timeSides } from './lab-time.js'
import { countSaves } from './lab-watch.js'
import { readReportFile } from './report-assets.js'

/**
 * @import { Sides } from '../lab/comparison.js'
 * @import { Side } from '../lab/sides.js'
 * @import { Site } from '../model/types.ts'
 * @import { Context } from './program.js'
 */
/**
 * @typedef {object} LabOptions
 * @property {string} [against]
 * @property {string[]} link
 * @property {number} requests
 * @property {number} [payload] bytes
 * @property {string} [features]
 * @property {string[]} pipy
 * @property {number} functions
 * @property {'plaintext' | 'ecdsa-p256'} [tls]
 * @property {boolean} parity
 * @property {string[]} threshold
 * @property {boolean} [details]
 * @property {boolean} [watch]
 * @property {boolean} [profile]
 * @property {boolean} [time]
 * @property {string} [out]
 * @property {boolean} [json]
 */
/**
 * @typedef {object} Comparing
 * @property {Site} site
 * @property {Side} side the new one
 * @property {LabOptions} options
 * @property {ReturnType<typeof parseLabThreshold>[]} thresholds
 * @property {string} [into] the folder to write the old scripts to, if they are of git
 */

const LINKS = ['pair', 'gateway-ratings']
/** The link with one sidecar alone. */
const ALONE = 'ratings'
/** With --watch: few requests, so that a count follows a save soon. */
const ON_SAVE = { link: ['pair'], requests: 100 }
/** With --profile. */
const UNDER_LOAD = { link: ['pair'] }
/** For scripts with a pipeline.yaml: a pipeline is one proxy alone, and few requests give its first number within seconds. */
const OF_PIPELINE = { link: [ALONE], requests: 400 }

/** Adds `lab`, which counts the instructions per request of changed Pipy scripts. @type {import('./program.js').AddVerb} */
export function addLab(verb, context) {
  addLabNew(verb, context)
  verb
    .argument('[folder]', 'the scripts to count', 'pipy-scripts')
    .option(
      '--against <folder>',
      'the scripts to hold them against, a folder or git:REF; default: pipy-scripts, and of pipy-scripts git:HEAD',
    )
    .option(
      '--link <list>',
      'links: pair, gateway-ratings, ratings (one sidecar alone); default: pair,gateway-ratings, with --watch or --profile pair, with a pipeline.yaml ratings',
      text => {
        const links = text.split(',')
        const known = [...LINKS, ALONE]
        if (links.every(link => known.includes(link)) && new Set(links).size === links.length) return links
        throw new InvalidArgumentError(`a list of ${known.join(', ')} is needed, each once at most`)
      },
    )
    .option('--requests <n>', 'requests to count, after a quarter as many; default: 2000, with --watch 100', text => {
      const requests = parseCount(text)
      if (requests >= 100 && requests <= 100_000) return requests
      throw new InvalidArgumentError('100 to 100000 requests can be counted')
    })
    .option('--payload <size>', 'body size, posted and echoed, such as 1KiB', parseOnAxis('payloadBytes'))
    .addOption(createFeaturesOption())
  // serviceTime and chunks are left out: a wait of the application takes no instructions of a sidecar.
  withRequest(verb, ['serviceTime', 'chunks'])
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
    .action(async (folder, flags) => {
      const side = findSide(folder)
      const defaults = { link: LINKS, requests: 2000, ...(flags.watch && ON_SAVE), ...(flags.profile && UNDER_LOAD) }
      /** @type {LabOptions} */
      const options = {
        ...defaults,
        ...(side.pipeline !== null && OF_PIPELINE),
        ...(flags.watch && { requests: ON_SAVE.requests }),
        ...flags,
      }
      const services = options.link.flatMap(name => readTopology(name).services.map(s => s.name))
      const thresholds = options.threshold.map(text => parseLabThreshold(text, services))
      const { against, pipy } = options
      const isSame = against ? path.resolve(against) === side.scripts : pipy.length === 2
      const named = verb.options.map(option => option.attributeName())
      assertCombination(LAB_OPTIONS, {
        ...options,
        flags: named.filter(name => verb.getOptionValueSource(name) === 'cli'),
        side: { ...side, isKit: isKitScripts(side.scripts) },
        isSame,
      })
      const count = (/** @type {string | undefined} */ into) =>
        withSite({ target: 'local', cpu: 'none', out: options.out }, context, site =>
          compareSides({ site, side, options, thresholds, into }, context),
        )
      const requestAxes = readRequest(options)
      await (options.time ? timeSides({ side, ...options, requestAxes, count }, context) : count(undefined))
    })
}

/**
 * Renders the request that each counted call sends.
 * @param {import('../model/requests.js').RequestOptions} axes options of the request
 * @param {number} [payload] bytes; by default that of the axis
 * @returns {string}
 */
function renderCountedRequest(axes, payload = AXES.payloadBytes.values[0]) {
  return renderRequest({ requests: [createRequestKind(axes, payload)] })
}

/**
 * Counts or samples both sides, prints the comparison, and sets the exit status by its thresholds.
 * @param {Comparing} comparing
 * @param {Context} context
 * @throws {BenchError} if a side does not serve, or both do not do equal work
 */
async function compareSides({ site, side, options, thresholds, into }, context) {
  const { print, say, end, signal } = context
  const { against = null, link, payload, features, pipy, requests, watch = false, profile: isSampled = false } = options
  const rest = { hasHandshakes: !watch, hasCalls: !watch && !isSampled }
  const requestAxes = readRequest(options)
  const isPlaintext = options.tls === 'plaintext'
  const load = { link, payload, requestAxes, features, requests, isSampled, isPlaintext, signal }
  const lab = await openLab({ site, side, against, into, pipy, ...load, ...rest })
  const { labels } = lab
  const { out, json, details, time } = options
  const counted = [
    ...(features === undefined ? [] : [`sidecars with ${AXES.features.render(features)}`]),
    ...(payload === undefined ? [] : [`bodies of ${payload} bytes`]),
    ...(Object.keys(requestAxes).length === 0 ? [] : [renderCountedRequest(requestAxes, payload)]),
  ]
  const conditions = isSampled ? ['under load'] : [`${requests} requests`]
  const more = [
    ...(isSampled || time ? [] : ['CPU time: --time (2 min)']),
    ...(out ? [] : ['Flame graph: --out DIR']),
    'More numbers: --details',
  ].join('    ')
  const renderLabAnswer = (
    /** @type {import('../lab/text.js').LabResults} */ counted,
    /** @type {string[]} */ conditions,
  ) => renderAnswerText(createLabAnswer({ ...counted, conditions }), { more: [more] })
  /** @type {import('../lab/text.js').Save[]} */
  const saves = []
  const printCounts = async (/** @type {Sides} */ counts, /** @type {string[]} */ notes = []) => {
    const labelled = {
      labels,
      // With --watch, saves are compared with the first version of the scripts, so no side is alone.
      ...(lab.isAlone && !watch && { isAlone: true }),
      notes: [...counted, ...notes],
      rows: compareCounts(counts),
      breakdowns: breakDown(counts, options),
    }
    if (out) {
      // The code of charts takes long to load.
      const { renderLabPage } = await import('../lab/page.js')
      writeDocument(out, 'lab.json', labelled)
      writeAtomically(out, 'lab.html', renderLabPage({ ...labelled, counts, style: readReportFile('page/style.css') }))
    }
    const lastSave = saves.at(-1)
    print(
      json
        ? JSON.stringify(labelled, null, 2)
        : details
          ? renderLabDetails(labelled)
          : lastSave
            ? renderChangedRows(labelled.rows, lastSave.rows)
            : renderLabAnswer(labelled, [...conditions, ...counted]),
    )
    if (out) say(`to look at: ${path.join(out, 'lab.html')}`)
    const { held, crossed, undecided } = judgeThresholds(thresholds, labelled)
    for (const line of [...held, ...crossed, ...undecided]) say(line)
    if (watch) {
      // With --watch no status is set: the scripts that are saved next may hold the threshold.
      saves.push({ at: new Date(), rows: labelled.rows })
      print(renderSaves(saves))
    } else if (crossed.length + undecided.length > 0) end(crossed.length > 0 ? EXIT.thresholdCrossed : EXIT.noResult)
  }
  try {
    await lab.checkProfiler(signal)
    if (watch)
      return await countSaves({ lab, hasParity: options.parity, printCounts, signal, folder: side.scripts, say })
    if (typeof lab.pipeline === 'object' && lab.pipeline?.file.includes('(not written)'))
      say(
        `no pipeline.yaml: ${renderDraft(lab.pipeline).split('\n').slice(1, -1).join('; ')} (lab new --from writes it)`,
      )
    /** @type {Record<string, string[]>} */
    const answers = {}
    // The new scripts are tried first: they are the ones that may fail.
    for (const name of lab.isAlone ? /** @type {const} */ (['new']) : /** @type {const} */ (['new', 'old']))
      answers[name] = await lab.assertServes(name, signal, say)
    if (lab.isAlone) {
      say(`counting ${requests} requests of ${link.join(' and ')}`)
      const counts = await lab.count('new', signal)
      return await printCounts({ old: counts, new: counts }, lab.notes)
    }
    if (options.parity && lab.pipeline !== null) {
      assertSameAnswers(answers, labels)
      say('both sides answer the requests of their load alike')
    } else if (options.parity) {
      await lab.checkParity(signal)
      say('equal work was tried, and it held')
    }
    const links = link.join(' and ')
    if (isSampled) {
      say(`sampling ${links} under load, each side twice, in turns`)
      const { notes, ...sides } = await lab.sample(signal)
      return await printCounts(sides, notes)
    }
    say(`counting ${requests} requests of ${links}, of both sides at once`)
    const [old, next] = await runConcurrently(signal, [
      signal => lab.count('old', signal),
      signal => lab.count('new', signal),
    ])
    await printCounts({ old, new: next }, lab.notes)
  } finally {
    lab.close()
  }
}

/**
 * Asserts that both sides give the same answers.
 * @param {Record<string, string[]>} answers of each side (`old`, `new`), one for each link
 * @param {{ old: string, new: string }} labels
 * @throws {BenchError} if they differ
 */
function assertSameAnswers(answers, labels) {
  const [old, next] = [answers.old.join('; '), answers.new.join('; ')]
  if (old === next) return
  throw new BenchError(
    `the two sides answer the requests of their load otherwise, so their costs cannot be compared: ${labels.old}: ${old}; ${labels.new}: ${next}; --no-parity counts them anyway`,
  )
}

/** Adds `lab new`, which copies the kit's scripts to be changed, or drafts a pipeline.yaml. @type {import('./program.js').AddVerb} */
function addLabNew(lab, context) {
  const { print } = context
  lab
    .command('new')
    .description('make a copy of pipy-scripts to change, with the tests of its pure parts')
    .argument('[folder]', 'a new folder, such as my-scripts')
    .option(
      '--from <folder>',
      'instead of a copy: look how the scripts of a folder are run, and write its pipeline.yaml',
    )
    .option('--shortest', 'of the shortest script that does a hop over mTLS, instead of the whole sidecar')
    .action(async (folder, { shortest: isShortest = false, from }) => {
      // commander gives the options of a count to `lab`, wherever they stand: refuse them here.
      const typed = lab.options.filter(option => lab.getOptionValueSource(option.attributeName()) === 'cli')
      if (typed.length > 0) throw new UsageError(`lab new takes no ${typed[0].long}: leave it out`)
      if (from !== undefined) return await writeDraft(from, context)
      if (folder === undefined) throw new UsageError('lab new: name a new folder, or --from a folder of Pipy scripts')
      const named = quoteWord(path.isAbsolute(folder) ? folder : `./${path.normalize(folder).replace(/\/$/, '')}`)
      if (isShortest) {
        copyShortest(folder)
        const against = quoteWord(path.relative('', SHORTEST))
        const count = renderCommand('lab', `${named} --against ${against} --link pair --no-parity`)
        print(
          `${folder} is a copy of the shortest script: it takes a request, and passes it on over mTLS, without the checks of a sidecar.`,
        )
        return print(`After a change:\n  ${count}   # instructions a request, beside the original`)
      }
      const tests = copyScripts(folder)
      const commands = [
        `node --test ${named}/*.test.mjs                # these tests`,
        `${renderCommand('lab', named)}                        # instructions a request, beside pipy-scripts; --watch: on every save`,
        `${renderCommand('bench', `--planes pipy,pipy=${named}`)}   # CPU time, memory and latency, beside pipy-scripts`,
      ]
      print(`${folder} is a copy of pipy-scripts, with ${tests.join(' and ')} for the parts that run in Node, too.`)
      print(['After a change:', ...commands.map(command => `  ${command}`)].join('\n'))
    })
}

/**
 * Finds out how a folder of Pipy scripts is run, and writes its pipeline.yaml.
 * @param {string} named the folder, as the user wrote it
 * @param {Context} context
 * @throws {UsageError} if the folder has one, or no main.js; {BenchError} if it cannot be drafted
 */
async function writeDraft(named, context) {
  const scripts = path.resolve(named)
  const existingFile = findPipelineFile(scripts)
  if (existingFile !== null)
    throw new UsageError(`lab new --from ${named}: ${path.relative('', existingFile)} is there already`)
  if (!existsSync(path.join(scripts, 'main.js'))) throw new UsageError(`lab new --from ${named}: it has no main.js`)
  await withSite({ target: 'local', cpu: 'none' }, context, async site => {
    const pipy = await site.findTool(pipyTool)
    if ('missing' in pipy) throw new BenchError(pipy.missing)
    const folder = path.join(site.ledger.folder, 'look')
    const text = renderDraft(await draftPipeline({ site, scripts, pipy, folder, signal: context.signal }))
    const file = path.join(scripts, PIPELINE_FILE)
    writeFileSync(file, text)
    const draftName = path.relative('', file)
    context.print(`${draftName}:\n${text.trimEnd().replaceAll(/^/gm, '  ')}`)
    const count = renderCommand('lab', quoteWord(path.isAbsolute(named) ? named : `./${path.normalize(named)}`))
    context.print(`Instructions a request:\n  ${count}`)
  })
}
