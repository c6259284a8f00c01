#!/usr/bin/env node
import { setMaxListeners } from 'node:events'
import os from 'node:os'
import path from 'node:path'
import { Command, CommanderError } from 'commander'
import { execa } from 'execa'
import { compareTargets, renderAgreement } from './agree.js'
import { listExperiments, prepare, readExperiment, runBench } from './bench.js'
import { evaluateClaims } from './claims.js'
import { pipyTool } from './dataplanes/pipy/index.js'
import { dataPlanes } from './dataplanes/registry.js'
import { runDoctor } from './doctor.js'
import { BenchError, UsageError } from './lib/errors.js'
import { readKit } from './lib/machine.js'
import { ROOT } from './lib/paths.js'
import { createTurns } from './lib/turns.js'
import { k6 } from './loads/k6/index.js'
import {
  collect,
  createImageParser,
  parseCount,
  parseMilliseconds,
  parsePlanes,
  parseSeed,
  parseSize,
  TARGET,
  withCluster,
  withExperiment,
} from './options.js'
import { estimatePlanSeconds } from './plan.js'
import { readClaims } from './read-claims.js'
import { readRun, readSummary } from './records.js'
import { renderClaims } from './report/claims.js'
import { renderPlan } from './report/plan.js'
import { renderNodeFit, renderSizes } from './report/searches.js'
import { openReusable } from './reusable.js'
import { writeSummary } from './run.js'
import { createSizeExperiment, parseNode } from './size.js'
import { findStatus } from './status.js'
import { connect } from './targets/kubernetes/api.js'
import { examineCluster } from './targets/kubernetes/doctor.js'
import { listImages } from './targets/kubernetes/images.js'
import { cleanUpCluster } from './targets/kubernetes/namespaces.js'
import { openKubernetesSite } from './targets/kubernetes/site.js'
import { findCapWay, wrapInSystemdScope } from './targets/local/cgroups.js'
import { cleanUpLocal } from './targets/local/cleanup.js'
import { RUN_VARIABLE } from './targets/local/index.js'
import { openLocalSite } from './targets/local/site.js'
import { findTool } from './tools/find.js'
import { nodeTool } from './tools/node.js'
import { addCompare } from './verbs/compare.js'
import { addReport, openDocuments, renderText } from './verbs/report.js'
import { openWatchers, withWatchers } from './verbs/watchers.js'
import { verifyRun } from './verify.js'

/**
 * @import { Site, ToolSpec } from './types.ts'
 * @import { Overrides } from './plan.js'
 */

// Its counters are renewed every 10 to 20 s: the edges of a window of two minutes would be too far from them.
const KUBELET_WINDOW_SECONDS = 180
const CLUSTER_WARMUP_SECONDS = 3
const NOTHING_SHOWN = 3

/** Beside the view of the terminal, while there is one. @type {((line: string) => void) | null} */
let sayBeside = null
const write = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)
const say = (/** @type {string} */ line) => (sayBeside ?? write)(line)
const print = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`)

// Who reads what is said may go away (`| head`): the run goes on, and removes what it started.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', error => {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EPIPE') throw error
  })
}

const stopping = new AbortController()
// Everything that waits listens to it.
setMaxListeners(0, stopping.signal)
for (const [name, status] of /** @type {const} */ ([
  ['SIGINT', 130],
  ['SIGTERM', 143],
])) {
  process.on(name, () => {
    if (stopping.signal.aborted) return
    say(`${name}: stopping what runs; what was measured is kept`)
    stopping.abort(new BenchError(`interrupted by ${name}`, { exitStatus: status }))
  })
}

const toolNames = toolSpecs().map(t => t.name)

const program = new Command('sidecar-bench')
  .description('Measures what a service-mesh sidecar costs: Pipy, Envoy and no mesh, at a CPU cap, under k6.')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, '')) })

withWatchers(withCluster(withExperiment(program.command('bench').description('run an experiment')), toolNames))
  .option('--out <dir>', 'results folder; must not exist or be empty')
  .option('--json', 'print summary.json instead of the table')
  .option('--threshold <expr>', "a ratio that must hold, such as 'pipy/envoy cpuPerRequest <= 0.6'", collect, [])
  .option('--require-verdict', 'end with status 3 where no verdict is reached')
  .option('--retain', 'leave the last trial running, and say what')
  .addOption(TARGET())
  .action(async (experimentName, options) => {
    const site = await openSite(options)
    if (site === null) return
    /** @type {Awaited<ReturnType<typeof watch>> | null} */
    let watchers = null
    try {
      watchers = await watch(options)
      const preparation = await prepareWith(readExperiment(experimentName), options, site)
      for (const note of announce(preparation.plan)) say(note)
      assertShort(preparation.plan, options)
      const { summary, folder } = await runBench({
        ...{ preparation, site, dataPlanes, load: k6, signal: stopping.signal, ...watchers },
        ...{ out: options.out ?? null, retain: options.retain ?? false, command: process.argv.slice(2) },
        thresholds: options.threshold,
        writeDocuments,
      })
      await watchers.close()
      report({ summary, folder, options })
    } finally {
      await watchers?.close()
      const left = await site.target.close({ retain: options.retain ?? false })
      if (left.length > 0) {
        const where = options.target === 'kubernetes' ? ' -- --target kubernetes' : ''
        say(`retained: ${left.join(', ')}; remove them with: npm run cleanup${where}`)
      }
    }
  })

withCluster(
  withExperiment(
    program
      .command('agree')
      .description('run an experiment on this machine and on its cluster, and say whether they agree'),
  ),
  toolNames,
)
  .option('--out <dir>', 'results folder; must not exist or be empty')
  .action(async (experimentName, options) => {
    // On the cluster nothing is pinned: so here neither.
    const own = { ...options, pin: false, seed: options.seed ?? chooseSeed() }
    const out = options.out ?? path.join('results', `${stampNow()}-agree`)
    const stopped = new AbortController()
    const signal = AbortSignal.any([stopping.signal, stopped.signal])
    setMaxListeners(0, signal)
    const targets = /** @type {const} */ (['local', 'kubernetes'])
    /** @type {Site[]} */
    const sites = []
    try {
      for (const target of targets) {
        const site = await openSite({ ...own, target })
        if (site === null) return
        sites.push(site)
      }
      const [here, there] = sites.map(site => site.machine)
      if (here.bootId !== there.bootId) {
        throw new BenchError(`the node ${there.node} is another machine than this one: run this on the node itself`)
      }
      /** @type {Awaited<ReturnType<typeof prepare>>[]} */
      const preparations = []
      for (const site of sites) preparations.push(await prepareWith(readExperiment(experimentName), own, site))
      for (const note of announce(preparations[1].plan)) say(note)
      assertShort(preparations[1].plan, options)
      const turns = createTurns(sites.length)
      const runs = sites.map((site, i) =>
        runBench({
          ...{ preparation: preparations[i], site, dataPlanes, load: k6, signal, retain: false, thresholds: [] },
          ...{ out: path.join(out, targets[i]), command: process.argv.slice(2), turns: turns[i], writeDocuments },
          say: line => say(`${targets[i]}: ${line}`),
        })
          .catch(error => {
            stopped.abort(error)
            throw error
          })
          .finally(turns[i].leave),
      )
      const ended = await Promise.allSettled(runs)
      const failed = ended.find(run => run.status === 'rejected')
      if (failed) throw failed.reason
      const [local, other] = targets.map(target => readSide(path.join(out, target)))
      print(renderAgreement(compareTargets({ local, other }), targets[1]))
      say(`results: ${out}`)
    } finally {
      for (const site of sites) await site.target.close()
    }
  })

withExperiment(program.command('plan').description('print what would run and how long it takes')).action(
  async (name, options) => {
    const site = { cpus: os.availableParallelism(), cores: [], findTool: find }
    const { plan } = await prepareWith(readExperiment(name), options, site)
    print(renderPlan(plan, estimatePlanSeconds(plan)))
  },
)

withWatchers(program.command('size'))
  .description('find the smallest CPU and memory limit of a sidecar that holds a load, and prove it')
  .requiredOption('--rate <n>', 'requests per second', parseCount)
  .requiredOption('--p99 <time>', 'the most that the 99th percentile may be, such as 20ms', parseMilliseconds)
  .option('--link <name>', 'a link of bench/topologies', 'gateway-ratings')
  .option('--users <n>', 'the most requests under way', parseCount)
  .option('--payload <size>', 'posted and echoed, such as 1KiB', parseSize)
  .option('--planes <list>', 'data planes, each a name or name=./variant', parsePlanes)
  .option('--node <size>', 'how many sidecars fit on a node, such as 2c4g')
  .option('--from <results...>', 'runs whose trials may be taken instead of measuring again')
  .option('--extrapolate', 'where no limit of this machine holds, say what a line through lower rates would need')
  .option('--seed <n>', 'seed', parseSeed)
  .option('--no-pin', 'let generator, applications and sidecars share CPUs')
  .option('--out <dir>', 'results folder; must not exist or be empty')
  .option('--json', 'print summary.json instead of the answer')
  .action(async options => {
    const node = options.node ? parseNode(options.node) : null
    const experiment = createSizeExperiment({
      ...{ ratePerSecond: options.rate, p99Ms: options.p99, link: options.link, users: options.users ?? null },
      ...{ payloadBytes: options.payload ?? null, isExtrapolated: options.extrapolate ?? false },
    })
    // What the experiment already says is no override of it.
    const { rate, users, payload, link, ...own } = options
    const site = await openSite({ ...own, target: 'local' })
    if (site === null) return
    /** @type {Awaited<ReturnType<typeof watch>> | null} */
    let watchers = null
    try {
      watchers = await watch(options)
      const preparation = await prepareWith(experiment, { ...own, profile: 'standard' }, site)
      const { plan, tools } = preparation
      for (const note of announce(plan)) say(note)
      const reusable = openReusable({
        ...{ folders: options.from ?? [], machine: site.machine, tools, settings: plan.settings },
      })
      const { summary, folder } = await runBench({
        ...{ preparation, site, dataPlanes, load: k6, signal: stopping.signal, ...watchers, reusable, retain: false },
        ...{ out: options.out ?? null, command: process.argv.slice(2), thresholds: [], writeDocuments },
      })
      await watchers.close()
      print(options.json ? JSON.stringify(summary, null, 2) : renderSizes(summary).join('\n').trimEnd())
      if (node && !options.json) print(renderNodeFit(summary.sizes, node).join('\n'))
      if (!summary.sizes.some(size => size.isChecked)) process.exitCode = NOTHING_SHOWN
      sayWhere(folder)
    } finally {
      await watchers?.close()
      await site.target.close()
    }
  })

program
  .command('claims')
  .description('hold published numbers against runs')
  .argument('<results...>', 'results folders, the last one last')
  .option('--json', 'print the answers as JSON')
  .action((folders, options) => {
    const results = evaluateClaims({ files: findClaims(), summaries: folders.map(summariseFolder) })
    print(options.json ? JSON.stringify(results, null, 2) : renderClaims(results).join('\n'))
  })

addReport(program, { print, say, readClaims: findClaims })
addCompare(program, { print, say, end: setStatus })

program
  .command('verify')
  .description('compute every number of a run again, from its records and raw files')
  .argument('<results>', 'a results folder')
  .action(folder => {
    const { lines, agrees } = verifyRun({ folder, load: k6 })
    print(lines.join('\n'))
    if (!agrees) process.exitCode = 1
  })

program
  .command('doctor')
  .description('say what is here for a default run, and what is missing')
  .addOption(TARGET())
  .option('--context <name>', 'on Kubernetes: the context of the kubeconfig')
  .option('--node <name>', 'on Kubernetes: where services go, a node or label=value')
  .option('--load-node <name>', 'on Kubernetes: where the load goes; else with the services')
  .option(
    '--image <tool=image>',
    'on Kubernetes: another image, such as pipy=registry/pipy:1.5',
    createImageParser(toolNames),
    {},
  )
  .action(async ({ target, context, node, loadNode, image }) => {
    if (target === 'kubernetes') {
      const api = await connect({ context: context ?? null })
      const found = await examineCluster({
        ...{ api, node: node ?? null, loadNode: loadNode ?? null, images: image, specs: toolSpecs() },
      })
      print(found.text)
      if (!found.isReady) process.exitCode = 1
      return
    }
    const { text, isReady } = await runDoctor({
      specs: [pipyTool, ...dataPlanes.flatMap(p => p.tool ?? []), k6.tool],
      findTool,
    })
    print(text)
    if (!isReady) process.exitCode = 1
  })

program
  .command('images')
  .description('print what a Kubernetes node without a registry needs')
  .option('--image <tool=image>', 'another image, such as pipy=registry/pipy:1.5', createImageParser(toolNames), {})
  .action(({ image }) => print(listImages({ specs: toolSpecs(), images: image }).join('\n')))

program
  .command('cleanup')
  .description('remove what a killed run left')
  .addOption(TARGET())
  .option('--context <name>', 'on Kubernetes: the context of the kubeconfig')
  .option('--all', 'on Kubernetes: what was started on other machines, too')
  .action(async ({ target, context, all }) => {
    /** @type {string[]} */
    const said = []
    if (target === 'kubernetes') {
      said.push(...(await cleanUpCluster({ api: await connect({ context: context ?? null }), isAll: all ?? false })))
    }
    // A run on a cluster leaves its certificates here, too.
    const removed = await cleanUpLocal({ way: await findCapWay(), runVariable: RUN_VARIABLE })
    said.push(...removed.map(what => `removed ${what}`))
    print(said.length > 0 ? said.join('\n') : 'nothing was left behind')
  })

try {
  program.version((await readKit()).version)
  await program.parseAsync()
} catch (error) {
  process.exitCode = exitStatusOf(error)
  if (!(error instanceof CommanderError)) {
    const { message, stack } = /** @type {Error} */ (error)
    say(process.env.DEBUG ? (stack ?? message) : `error: ${message}`)
  }
}

/** @param {unknown} error */
function exitStatusOf(error) {
  if (error instanceof BenchError) return error.exitStatus
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  return 1
}

/**
 * @param {{ summary: import('./types.ts').Summary, folder: string, options: any }} run
 */
function report({ summary, folder, options }) {
  print(options.json ? JSON.stringify(summary, null, 2) : renderText(summary, findClaims()))
  const { status, reasons } = findStatus(summary, { isVerdictRequired: options.requireVerdict ?? false })
  for (const reason of reasons) say(reason)
  process.exitCode = status
  sayWhere(folder)
}

/**
 * Writes the documents of a run, also of one that was cut short. A run is not lost for its report.
 * @param {string} folder
 */
async function writeDocuments(folder) {
  try {
    const documents = await openDocuments({ folder, summary: readSummary(folder), claims: findClaims() })
    documents.write()
    if (stopping.signal.aborted) sayWhere(folder)
  } catch (error) {
    say(`no report was written: ${/** @type {Error} */ (error).message}; try npm run report -- ${folder} --format html`)
  }
}

/**
 * Opens what a run is watched by.
 * @param {Parameters<typeof openWatchers>[0]} options
 */
async function watch(options) {
  const watchers = await openWatchers(options, { stream: process.stderr, say: write })
  sayBeside = watchers.say
  const close = async () => {
    sayBeside = null
    await watchers.close()
  }
  return { ...watchers, close }
}

/** @param {number} status */
function setStatus(status) {
  process.exitCode = status
}

/** @param {string} folder of a run */
function sayWhere(folder) {
  const where = path.relative('', folder) || folder
  say(`results: ${where}; to look at: ${path.join(where, 'report.html')}`)
}

function findClaims() {
  return readClaims(path.join(ROOT, 'bench/claims'), { experiments: listExperiments() })
}

/**
 * A run's summary, made again from its records; warnings are said.
 * @param {string} folder
 */
function summariseFolder(folder) {
  for (const warning of readRun(folder).warnings) say(warning)
  return writeSummary(folder)
}

/** @param {string} folder of a run */
function readSide(folder) {
  const { manifest, records } = readRun(folder)
  const { arms, rounds, run } = manifest
  return { arms, records, rounds, seed: run.seed, summary: readSummary(folder) }
}

function chooseSeed() {
  return Math.floor(Math.random() * 2 ** 31)
}

function stampNow() {
  return new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
}

function toolSpecs() {
  return [...dataPlanes.flatMap(p => p.tool ?? []), k6.tool, nodeTool]
}

/** @param {ToolSpec} spec */
function find(spec) {
  return findTool(spec, { onFetch: name => say(`fetching ${name}`) })
}

/**
 * @param {import('./experiment.js').Experiment} experiment
 * @param {any} options
 * @param {Pick<Site, 'cpus' | 'cores' | 'findTool'>} site
 */
function prepareWith(experiment, options, site) {
  /** @type {Overrides} */
  const overrides = {
    planes: options.planes ?? null,
    caps: options.cpu ?? null,
    axes: {
      link: options.link,
      ratePerSecond: options.rate,
      users: options.users,
      payloadBytes: options.payload,
      services: options.services,
      tls: options.tls,
      protocol: options.protocol,
      workers: options.workers,
      memoryLimitBytes: options.memory,
      envoyProfile: options.envoyProfile,
    },
    rounds: options.rounds ?? null,
    profile: options.profile,
    seed: options.seed ?? chooseSeed(),
    app: 'pipy',
    isPinned: options.pin,
    // The window is read in the load's log, through the API server.
    warmupLeastSeconds: options.target === 'kubernetes' ? CLUSTER_WARMUP_SECONDS : 0,
    windowLeastSeconds: options.samples === 'kubelet' ? KUBELET_WINDOW_SECONDS : 0,
  }
  const { target = 'local' } = options
  if (!experiment.targets.includes(target)) {
    throw new UsageError(`${experiment.name} runs on ${experiment.targets.join(' and ')} only`)
  }
  if (experiment.search && options.p99) experiment.search.p99Ms = options.p99
  return prepare({
    ...{ experiment, overrides, site, dataPlanes, load: k6, pipyTool, nodeTool, say },
    ...{ thresholds: options.threshold ?? [], app: options.app ?? null },
  })
}

/**
 * @param {import('./types.ts').Plan} plan
 * @param {{ maxMinutes: number, yes?: boolean }} options
 * @throws {UsageError} where it takes longer than was agreed to
 */
function assertShort(plan, { maxMinutes, yes }) {
  const minutes = Math.ceil(estimatePlanSeconds(plan) / 60)
  if (minutes > maxMinutes && !yes) {
    throw new UsageError(
      `${plan.experiment} would take about ${minutes} min, more than ${maxMinutes} (--max-minutes): add --yes to run it, or ask for less (--profile quick, --rounds, --planes)`,
    )
  }
}

/** @param {import('./types.ts').Plan & { notes: string[] }} plan */
function announce(plan) {
  const { notes, notMeasured, trials, settings, search } = plan
  const what = search ? 'a search' : `${trials.length} trials`
  return [
    ...notes.map(note => `note: ${note}`),
    ...notMeasured.map(({ plane, reason }) => `not measured: ${plane}: ${reason}`),
    `${what}, about ${Math.ceil(estimatePlanSeconds(plan) / 60)} min (profile ${settings.profile})`,
  ]
}

/**
 * Where to run; null when this program was started again inside a systemd scope that can cap.
 * @param {any} options
 * @returns {Promise<Site | null>}
 */
async function openSite({ cpu, target, context, node, loadNode, namespace, image, generators, samples }) {
  // Two sites of one process are two runs.
  const runId = `${stampNow()}-${process.pid}${target === 'kubernetes' ? '-k8s' : ''}`
  if (target === 'kubernetes') {
    return openKubernetesSite({
      ...{ runId, context: context ?? null, node: node ?? null, loadNode: loadNode ?? null },
      ...{ namespace: namespace ?? null, images: image, generators: generators ?? null, signal: stopping.signal },
      ...{ sampleSource: samples },
    })
  }
  const way = await findCapWay()
  if (way.how === 'systemd-run') {
    const [command, ...argv] = wrapInSystemdScope([process.execPath, ...process.argv.slice(1)])
    const { exitCode } = await execa(command, argv, { stdio: 'inherit', reject: false })
    process.exitCode = exitCode ?? 1
    return null
  }
  if (way.how === 'none' && cpu !== 'none') throw new BenchError(`no CPU cap can be set here: ${way.reason}`)
  return openLocalSite({ runId, way, findTool: find })
}
