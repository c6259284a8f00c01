import { Option } from 'commander'
import { loadPlanes } from '../dataplanes/registry.js'
import { parseNodeOptions, renderKnownNodes } from '../kinds/search/nodes.js'
import { EXIT, UsageError } from '../lib/errors.js'
import { readKit } from '../lib/kit.js'
import { findResult, listSizes } from '../model/results.js'
import { createAxisParser, parseCount, parsePlanes, parseSeed } from '../prepare/option-parsers.js'
import { addSharedOptions, createFeaturesOption } from '../prepare/options.js'
import { addProductionOptions, PRODUCTION_FORMATS, readProductionOptions } from '../prepare/production-options.js'
import { readOptionFile } from '../prepare/read-option-file.js'
import {
  addRequestOptions,
  omitRequestOptions,
  REQUEST_ATTRIBUTES,
  readRequestOptions,
} from '../prepare/request-options.js'
import { runExperiment } from '../prepare/run-experiment.js'
import { LIMIT_FORMATS, renderLimits, renderNodeFit } from '../report/limits.js'
import { SIZE_OPTIONS } from '../request/constraints/size.js'
import { assertCombination } from '../request/constraints.js'
import {
  createControlExperiment,
  createServicesExperiment,
  createSizeExperiment,
  parseServices,
} from '../request/size-experiment.js'
import { readReusableTrials } from '../run/reusable.js'
import { hashScripts, locateKitScripts } from '../run/scripts.js'
import { findControl } from '../services/control.js'
import { renderRunText } from './answer.js'
import { announceResults, writeDocuments } from './documents.js'

/**
 * @import { Command } from 'commander'
 * @import { Answered } from '../kinds/sections.js'
 * @import { Traffic } from '../model/traffic.js'
 * @import { PlaneChoice, Site, Summary } from '../model/types.ts'
 * @import { RunOptions } from '../prepare/options.js'
 * @import { ProductionWords } from '../prepare/production-options.js'
 * @import { Preparation } from '../run/execute.js'
 * @import { Context } from './program.js'
 * @typedef {RunOptions & ProductionWords & { link?: string, rate?: number, users?: number, payload?: number, features?: string,
 *   interception?: string, protocol?: string, tls?: string, neighbour?: number, file?: string, traffic?: Traffic,
 *   sidecars?: number, reserve?: string, nodes?: number, format?: string, from?: string[], extrapolate?: boolean,
 *   dryRun?: boolean, json?: boolean, details?: boolean }} SizeOptions p99: in milliseconds; payload: in bytes
 */

const DEFAULT_LINK = 'gateway-ratings'

const FILE_HELP = `
A file of services (-f); p99 and payload are those of --p99 and --payload where a service says none:
  services:
    - { name: orders, requestsPerSecond: 300, p99: 20ms }
    - { name: images, requestsPerSecond: 40, p99: 50ms, payload: 64KiB }
`

/** Adds `size`, which finds the smallest limits for a load, or what a control plane needs. @type {import('./program.js').AddVerb} */
export function addSize(verb, context) {
  defineSize(verb).action(async (/** @type {SizeOptions} */ typedOptions) => {
    const options = setPeakRate(typedOptions)
    assertCombination(SIZE_OPTIONS, options)
    const production = readProductionOptions(options)
    if (production) {
      const { sizeProduction } = await import('./size-production.js')
      return sizeProduction(production, context)
    }
    const { node: nodeText, reserve = null, nodes = null } = options
    const node = nodeText === undefined ? null : parseNodeOptions(nodeText, reserve)
    if (options.sidecars !== undefined) await assertControlPlanes(options.planes ?? [])
    const experiment = createRequestedExperiment(options)
    const runOptions = createRunOptions(options)
    if (options.dryRun) {
      const { renderExperimentPlan } = await import('./plan.js')
      return context.print(await renderExperimentPlan(experiment, runOptions))
    }
    await runExperiment(
      {
        experiment,
        options: runOptions,
        findReusable: (preparation, site) => readReusable(options.from ?? [], preparation, site),
        writeDocuments,
        announceResults,
        report: run => reportSizes(run, { options, place: { node, nodes } }, context),
      },
      context,
    )
  })
}

/**
 * Creates the options of the run: without those that the experiment already has, which they must not override. Those of the sidecars
 * stay, since a pipeline refuses what its file says.
 * @param {SizeOptions} options
 * @returns {RunOptions} on this machine, with the profile `standard`
 */
function createRunOptions(options) {
  const { rate, users, payload, neighbour, p99, file, sidecars, traffic, ...others } = omitRequestOptions(options)
  // For `size` these are nodes to be filled, and for a run the node of a cluster.
  const { node, nodes, ...runOptions } = others
  return { ...runOptions, target: 'local', profile: 'standard' }
}

/**
 * Reads the trials of earlier runs that a run need not measure again.
 * @param {string[]} folders of the earlier runs; []: there are none
 * @param {Preparation} preparation
 * @param {Pick<Site, 'machine'>} site
 * @returns as `readReusableTrials`; without folders it has no trial
 * @throws {UsageError} if a folder holds no run that can be read, or was measured otherwise; as `hashScripts`
 */
async function readReusable(folders, { plan: { arms, settings }, programs, layout }, { machine }) {
  const scripts = hashScripts({ arms, programs, folders: locateKitScripts(programs) })
  const now = { machine, tools: programs.tools, scripts, layout, kit: await readKit(), settings }
  return readReusableTrials({ folders, ...now })
}

/**
 * Prints the sizes of a run: the answer or summary.json; with --format the limits, and the answer to stderr. Limits of an
 * interrupted run are not printed, since they are not confirmed.
 * @param {{ summary: Summary, folder: string, isInterrupted: boolean }} run
 * @param {{ options: SizeOptions, place: NonNullable<Answered['place']> }} request place: the nodes to be filled
 * @param {Context} context
 * @returns {number} the exit status: EXIT.interrupted for an interrupted run with --format; else EXIT.noResult if no limits were
 *   confirmed or computed
 */
function reportSizes({ summary, folder, isInterrupted }, { options, place }, { print, say }) {
  const { format, json, details } = options
  const sizes = listSizes(summary)
  const answer = renderSizes(summary, { folder, details, place })
  if (format) {
    say(answer)
    if (isInterrupted) return EXIT.interrupted
    print(renderLimits(sizes, format))
  } else print(json ? JSON.stringify(summary, null, 2) : answer)
  const controlNeeds = findResult(summary, 'rollout')?.controlNeeds ?? []
  const isAnswered = sizes.some(size => size.isChecked) || controlNeeds.some(need => need.limits)
  return isAnswered ? EXIT.done : EXIT.noResult
}

/**
 * Renders the answer of a run and, with a node, how its sidecars fit on it: in lines of text with details or for several services, else
 * in the answer's chart.
 * @param {Summary} summary
 * @param {{ folder: string, details?: boolean, place: NonNullable<Answered['place']> }} options
 * @returns {string}
 * @throws as `renderRunText`
 */
function renderSizes(summary, { folder, details, place }) {
  const sizes = listSizes(summary)
  const hints = sizes.length > 0 ? ['Paste: --format yaml, helm, compose'] : []
  // The answer's chart shows how many pods of one service fit; services of a set share the node, so they need lines of text.
  const isSet = sizes.some(({ services }) => services.length > 0)
  const fitLines = place.node && (details || isSet) ? ['', ...renderNodeFit(summary, place.node)] : []
  return [renderRunText({ summary, folder, details, place, hints }), ...fitLines].join('\n')
}

/**
 * Sets the rate to the peak of the traffic file, if it has one and no option sets a load.
 * @param {SizeOptions} options
 * @returns {SizeOptions} with the peak rounded up, and at least 1; the same options: they have a load, or there is no peak
 */
function setPeakRate(options) {
  const { rate, file, sidecars, traffic } = options
  const peak = traffic?.requestsPerSecond?.peak
  if (rate !== undefined || file !== undefined || sidecars !== undefined || peak === undefined) return options
  return { ...options, rate: Math.max(1, Math.ceil(peak)) }
}

/**
 * Adds the options of `size`, including those of `size --from-prometheus`.
 * @param {Command} verb
 * @returns {Command} the same verb
 */
function defineSize(verb) {
  addSizeLoadOptions(verb)
  addSizeNodeOptions(verb)
  return addProductionOptions(addSharedOptions(verb, 'generator', 'noPin', 'out', 'recheck'))
    .addOption(new Option('--json', 'print summary.json instead of the answer').conflicts('format'))
    .addOption(
      new Option('--details', 'print every trial and check instead of the answer').conflicts(['format', 'json']),
    )
    .addHelpText(
      'after',
      () => `${FILE_HELP}\nKnown nodes, as their makers publish them:\n${renderKnownNodes().join('\n')}`,
    )
}

/** Adds the options of the load, and of its path through the sidecars. @param {Command} verb */
function addSizeLoadOptions(verb) {
  const file = new Option('-f, --file <yaml>', 'instead of --rate: several services with their rates (below)')
  const rate = new Option('--rate <n>', 'requests per second to hold').argParser(createAxisParser('ratePerSecond'))
  addSharedOptions(verb, 'maxMinutes', 'yes', 'live', 'metrics').addOption(rate)
  addSharedOptions(verb, 'p99')
    .addOption(file.conflicts(['rate', 'extrapolate']))
    .addOption(createSidecarsOption())
    .option('--link <name>', `a link of bench/topologies; default: ${DEFAULT_LINK}`)
    .option('--users <n>', 'the most requests at a time; default: 64', createAxisParser('users'))
    .option('--payload <size>', 'posted and echoed, such as 14KiB; default: 1KiB', createAxisParser('payloadBytes'))
    .addOption(createFeaturesOption())
  addRequestOptions(verb)
    .option(
      '--interception <way>',
      'redirect: by rules in network namespaces, as in a mesh',
      createAxisParser('interception'),
    )
    .option('--protocol <name>', 'http/1.1 (default), http/2, grpc or tcp', createAxisParser('protocol'))
    .option(
      '--traffic <file>',
      'several kinds of requests with weights; --rate is its peak by default',
      createAxisParser('traffic'),
    )
    .option(
      '--tls <kind>',
      'key type of mTLS between sidecars (default: ecdsa-p256), or plaintext',
      createAxisParser('tls'),
    )
    .option(
      '--neighbour <cores>',
      'beside a process that burns so much CPU, such as 2c: the CPU request without a limit, where the node is full',
      createAxisParser('neighbourCores'),
    )
}

/** Adds the options of the planes, the nodes, and the trials. @param {Command} verb */
function addSizeNodeOptions(verb) {
  const format = new Option('--format <name>', 'print the limits alone, to paste, and the rest to stderr')
  verb
    // These two are options of bench: `size` knows them only to say what to run instead.
    .addOption(new Option('--cpu-request <list>').hideHelp())
    .addOption(new Option('--pod-cpu <list>').hideHelp())
    .option(
      '--planes <list>',
      'data planes, each a name, name:profile, pipy=./folder (scripts like pipy-scripts, or with a pipeline.yaml), or proxy=./folder (a pipeline.yaml: any program); default: pipy,envoy',
      parsePlanes,
    )
    .option('--node <node>', 'how many such sidecars fit: 2c4g (cores, GiB), or a known node (below)')
    .option('--reserve <what>', 'of the node, for the system and the applications: 0.5c, 512m, or 0.5c,512m')
    .addOption(new Option('--nodes <n>', 'what such a pod on each of so many nodes takes').argParser(parseCount))
    .addOption(format.choices([...new Set([...LIMIT_FORMATS, ...PRODUCTION_FORMATS])]))
    .option('--from <results...>', 'take matching trials from these runs instead of measuring again')
    .option('--extrapolate', 'where no limit here holds, extrapolate from lower rates')
    .option('--seed <n>', 'seed', parseSeed)
    .option('--dry-run', 'print what would run, and how long it may take, and measure nothing')
}

/**
 * Creates the option --sidecars, which sizes a control plane: it excludes the options of a load, of its path, of nodes and of limits.
 * @returns {Option}
 */
function createSidecarsOption() {
  const help = 'instead of --rate: what the control plane of so many sidecars needs (--planes pipy)'
  return new Option('--sidecars <n>', help)
    .argParser(createAxisParser('sidecars'))
    .conflicts([
      ...['rate', 'p99', 'file', 'users', 'payload', 'traffic', ...REQUEST_ATTRIBUTES],
      ...['interception', 'protocol', 'tls', 'neighbour'],
      ...['node', 'nodes', 'format', 'from', 'extrapolate'],
    ])
}

/**
 * Asserts that the planes of --sidecars have a control plane that runs as a process. Unknown planes pass: they are
 * refused elsewhere.
 * @param {PlaneChoice[]} choices []: nothing is checked
 * @throws {UsageError} for a plane without one
 */
async function assertControlPlanes(choices) {
  const planes = await loadPlanes(choices.map(({ plane }) => plane))
  for (const choice of choices.filter(({ plane }) => Object.hasOwn(planes, plane))) {
    const control = findControl(planes[choice.plane], choice)
    if (control?.createProcess) continue
    const why = control ? `takes its configuration from ${control.name}` : 'has no control plane here'
    throw new UsageError(`--planes ${choice.plane} ${why}: no process of it needs CPU or memory; leave it out`)
  }
}

/**
 * Creates the experiment that the options ask for: with --sidecars, for a file of services, or for one load.
 * @param {SizeOptions} options rate and p99 are set unless sidecars or file is
 * @returns {import('../request/experiment.js').Experiment}
 * @throws {UsageError} for a file of services that cannot be read or does not fit the schema, or values that no experiment can have
 */
function createRequestedExperiment({ file, rate, p99: p99Ms, sidecars, extrapolate = false, ...options }) {
  if (sidecars !== undefined) return createControlExperiment(sidecars)
  const { link = DEFAULT_LINK, users = null, payload: payloadBytes = null, features = null } = options
  const { interception, protocol, tls, neighbour: neighbourCores } = options
  const requests = { ...readRequestOptions(options), ...(options.traffic && { traffic: options.traffic }) }
  const axes = { link, users, payloadBytes, features, interception, protocol, tls, neighbourCores, requests }
  if (file !== undefined)
    return createServicesExperiment({
      ...axes,
      services: parseServices(readOptionFile('-f', file), file),
      p99Ms: p99Ms ?? null,
    })
  const load = { ratePerSecond: Number(rate), p99Ms: Number(p99Ms) }
  return createSizeExperiment({ ...axes, ...load, isExtrapolated: extrapolate })
}
