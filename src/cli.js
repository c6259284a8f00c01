#!/usr/bin/env node
import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { execa } from 'execa'
import { compareTargets, renderAgreement } from './agree.js'
import { prepare, runBench } from './bench.js'
import { pipyTool } from './dataplanes/pipy/index.js'
import { dataPlanes } from './dataplanes/registry.js'
import { runDoctor } from './doctor.js'
import { PROFILES } from './experiment.js'
import { BenchError, UsageError } from './lib/errors.js'
import { readKit } from './lib/machine.js'
import { createTurns } from './lib/turns.js'
import { k6 } from './loads/k6/index.js'
import { estimateSeconds } from './plan.js'
import { readRun, readSummary } from './records.js'
import { renderPlan } from './report/plan.js'
import { renderTable } from './report/table.js'
import { writeSummary } from './run.js'
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
import { verifyRun } from './verify.js'

/**
 * @import { PlaneChoice, Site, ToolSpec } from './types.ts'
 * @import { Overrides } from './plan.js'
 */

// Its counters are renewed every 10 to 20 s: the edges of a window of two minutes would be too far from them.
const KUBELET_WINDOW_SECONDS = 180
const CLUSTER_WARMUP_SECONDS = 3

const say = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)
const print = (/** @type {string} */ text) => void process.stdout.write(`${text}\n`)

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

const program = new Command('sidecar-bench')
  .description('Measures what a service-mesh sidecar costs: Pipy, Envoy and no mesh, at a CPU cap, under k6.')
  .exitOverride()
  .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, '')) })

const TARGET = () => new Option('--target <name>', 'where it runs').choices(['local', 'kubernetes']).default('local')

/** @param {Command} command */
function withExperiment(command) {
  return command
    .argument('[experiment]', 'an experiment of bench/experiments, or a file', 'cap')
    .option('--planes <list>', 'data planes, each a name or name=./variant', parsePlanes)
    .option('--link <list>', 'links: ratings, gateway-ratings, pair', parseList)
    .option('--cpu <list>', 'caps of each sidecar in cores, or none', parseCaps)
    .option('--users <n>', 'virtual users of the closed loop; of the open, the most requests under way', parseCount)
    .option('--rate <list>', 'open loop: requests per second, for latency', parseRates)
    .option('--payload <bytes>', 'bytes posted and echoed', parseCount)
    .option('--rounds <n>', 'rounds over all arms', parseCount)
    .option('--profile <name>', `lengths: ${Object.keys(PROFILES).join(', ')}`, 'standard')
    .option('--seed <n>', 'seed of the order of the arms', parseSeed)
    .addOption(
      new Option('--envoy-profile <name>', 'how Envoy is configured').choices(['lean', 'osm-1.1']).default('lean'),
    )
    .option('--no-pin', 'let generator, applications and sidecars share CPUs')
    .addOption(new Option('--app <name>', 'what serves the applications').choices(['pipy', 'node']))
    .option('--copies <n>', 'copies of the last service of the link, each with a sidecar', parseCount, 1)
}

/** @param {Command} command */
function withCluster(command) {
  return command
    .option('--context <name>', 'on Kubernetes: the context of the kubeconfig')
    .option('--node <name>', 'on Kubernetes: where services go, a node or label=value')
    .option('--load-node <name>', 'on Kubernetes: where the load goes; else with the services')
    .option('--namespace <name>', 'on Kubernetes: the namespace to make; that of the reader is <name>-reader')
    .option('--image <tool=image>', 'on Kubernetes: another image, such as pipy=registry/pipy:1.5', collectImage, {})
    .addOption(
      new Option('--samples <source>', 'on Kubernetes: who reads the counters')
        .choices(['cgroup', 'kubelet'])
        .default('cgroup'),
    )
    .option('--generators <n>', 'on Kubernetes: load from so many pods, by the k6 operator', parseCount)
}

withCluster(withExperiment(program.command('bench').description('run an experiment')))
  .option('--out <dir>', 'results folder; must not exist or be empty')
  .option('--json', 'print summary.json instead of the table')
  .option('--threshold <expr>', "a ratio that must hold, such as 'pipy/envoy cpuPerRequest <= 0.6'", collect, [])
  .option('--require-verdict', 'end with status 3 where no verdict is reached')
  .option('--retain', 'leave the last trial running, and say what')
  .option('--memory <size>', 'memory limit of each sidecar, such as 64MiB', parseSize)
  .addOption(TARGET())
  .action(async (experimentName, options) => {
    const site = await openSite(options)
    if (site === null) return
    try {
      const preparation = await prepareWith(experimentName, options, site)
      for (const note of announce(preparation.plan)) say(note)
      const { summary, folder } = await runBench({
        ...{ preparation, site, dataPlanes, load: k6, signal: stopping.signal, say },
        ...{ out: options.out ?? null, retain: options.retain ?? false, command: process.argv.slice(2) },
        ...{ thresholds: options.threshold, memoryLimitBytes: options.memory ?? null },
      })
      report({ summary, folder, options })
    } finally {
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
      for (const site of sites) preparations.push(await prepareWith(experimentName, own, site))
      for (const note of announce(preparations[1].plan)) say(note)
      const turns = createTurns(sites.length)
      const runs = sites.map((site, i) =>
        runBench({
          ...{ preparation: preparations[i], site, dataPlanes, load: k6, signal, retain: false, thresholds: [] },
          ...{ out: path.join(out, targets[i]), command: process.argv.slice(2), turns: turns[i] },
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
    const { plan } = await prepareWith(name, options, site)
    print(renderPlan(plan, estimateSeconds(plan.trials)))
  },
)

program
  .command('report')
  .description('print the table of a run again, from its records')
  .argument('<results>', 'a results folder')
  .option('--json', 'print summary.json instead of the table')
  .action((folder, options) => {
    for (const warning of readRun(folder).warnings) say(warning)
    const summary = writeSummary(folder)
    print(options.json ? JSON.stringify(summary, null, 2) : renderTable(summary))
  })

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
  .option('--image <tool=image>', 'on Kubernetes: another image, such as pipy=registry/pipy:1.5', collectImage, {})
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
  .option('--image <tool=image>', 'another image, such as pipy=registry/pipy:1.5', collectImage, {})
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
  print(options.json ? JSON.stringify(summary, null, 2) : renderTable(summary))
  const { status, reasons } = findStatus(summary, { isVerdictRequired: options.requireVerdict ?? false })
  for (const reason of reasons) say(reason)
  process.exitCode = status
  say(`results: ${path.relative('', folder) || folder}`)
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
 * @param {string} experimentName
 * @param {any} options
 * @param {Pick<Site, 'cpus' | 'cores' | 'findTool'>} site
 */
function prepareWith(experimentName, options, site) {
  /** @type {Overrides} */
  const overrides = {
    planes: options.planes ?? null,
    links: options.link ?? null,
    caps: options.cpu ?? null,
    rates: options.rate ?? null,
    users: options.users ?? null,
    payloadBytes: options.payload ?? null,
    rounds: options.rounds ?? null,
    profile: options.profile,
    seed: options.seed ?? chooseSeed(),
    envoyProfile: options.envoyProfile,
    app: 'pipy',
    isPinned: options.pin,
    // The window is read in the load's log, through the API server.
    warmupLeastSeconds: options.target === 'local' ? 0 : CLUSTER_WARMUP_SECONDS,
    windowLeastSeconds: options.samples === 'kubelet' ? KUBELET_WINDOW_SECONDS : 0,
  }
  return prepare({
    ...{ experimentName, overrides, site, dataPlanes, load: k6, pipyTool, nodeTool, say },
    ...{ thresholds: options.threshold ?? [], copies: options.copies, app: options.app ?? null },
  })
}

/** @param {{ notes: string[], notMeasured: { plane: string, reason: string }[], trials: any[], settings: { profile: string } }} plan */
function announce({ notes, notMeasured, trials, settings }) {
  return [
    ...notes.map(note => `note: ${note}`),
    ...notMeasured.map(({ plane, reason }) => `not measured: ${plane}: ${reason}`),
    `${trials.length} trials, about ${Math.ceil(estimateSeconds(trials) / 60)} min (profile ${settings.profile})`,
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

/**
 * @param {string} text
 * @returns {PlaneChoice[]}
 */
function parsePlanes(text) {
  return parseList(text).map(entry => {
    const [plane, folder] = entry.split('=', 2)
    if (folder === undefined) return { plane, variant: null }
    const variant = path.resolve(folder)
    if (!existsSync(path.join(variant, 'main.js'))) {
      throw new UsageError(
        `--planes ${entry}: ${variant} has no main.js: name a folder of Pipy scripts such as pipy-scripts/`,
      )
    }
    return { plane, variant }
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
function parseRates(text) {
  return parseList(text).map(parseCount)
}

/**
 * @param {string} value
 * @param {string[]} before
 */
function collect(value, before) {
  return [...before, value]
}

/**
 * @param {string} text
 * @param {Record<string, string>} before
 */
function collectImage(text, before) {
  const [, tool, image] = /^([a-z0-9]+)=(\S+)$/.exec(text) ?? []
  const names = toolSpecs().map(t => t.name)
  if (!names.includes(tool))
    throw new InvalidArgumentError(`TOOL=IMAGE is needed, with TOOL one of ${names.join(', ')}`)
  return { ...before, [tool]: image }
}

/** @param {string} text */
function parseCount(text) {
  if (!/^[1-9]\d*$/.test(text)) throw new InvalidArgumentError('a whole number above 0 is needed')
  return Number(text)
}

/** @param {string} text */
function parseSize(text) {
  const [, number, unit = ''] = /^(\d+(?:\.\d+)?)\s*((?:[KMG]i?)?B?)$/.exec(text) ?? []
  if (number === undefined) throw new InvalidArgumentError('a size such as 64MiB is needed')
  const bytes = Number(number) * (unit.includes('i') ? 1024 : 1000) ** Math.max(0, 'BKMG'.indexOf(unit[0]))
  if (!(bytes >= 1)) throw new InvalidArgumentError('a size above 0 is needed')
  return Math.round(bytes)
}

/** @param {string} text */
function parseSeed(text) {
  if (!/^\d+$/.test(text)) throw new InvalidArgumentError('a whole number is needed')
  return Number(text)
}
