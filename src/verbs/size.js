import { Option } from 'commander'
import { loadPlanes } from '../dataplanes/registry.js'
import { listNodes, readNode } from '../kinds/search/nodes.js'
import { EXIT, UsageError } from '../lib/errors.js'
import { readKit } from '../lib/kit.js'
import { findResult, listSizes } from '../model/results.js'
import {
  createFeaturesOption,
  parseCount,
  parseOnAxis,
  parsePlanes,
  parseSeed,
  readRequest,
  withOptions,
  withoutRequest,
  withRequest,
} from '../prepare/options.js'
import { addProductionOptions, PRODUCTION_FORMATS, readProductionOptions } from '../prepare/production-options.js'
import { readOptionFile } from '../prepare/read-traffic.js'
import { runExperiment } from '../prepare/run-experiment.js'
import { FORMATS, renderLimits, renderNodeFit } from '../report/limits.js'
import { SIZE_OPTIONS } from '../request/constraints/size.js'
import { assertCombination } from '../request/constraints.js'
import {
  createControlExperiment,
  createServicesExperiment,
  createSizeExperiment,
  parseServices,
} from '../request/size-experiment.js'
import { locateKitScripts } from '../run/execute.js'
import { openReusableTrials } from '../run/reusable.js'
import { hashScripts } from '../run/scripts.js'
import { findControl } from '../services/control.js'
import { renderRunText } from './answer.js'
import { announceResults, writeDocuments } from './documents.js'

/**
 * @import { Traffic } from '../model/traffic.js'
 * @import { PlaneChoice } from '../model/types.ts'
 * @import { RunOptions } from '../prepare/options.js'
 * @import { ProductionWords } from '../prepare/production-options.js'
 * @typedef {RunOptions & ProductionWords & { link?: string, rate?: number, users?: number, payload?: number, features?: string, interception?: string,
 *   protocol?: string, tls?: string, neighbour?: number, file?: string, traffic?: Traffic,
 *   sidecars?: number, reserve?: string, nodes?: number, format?: string, from?: string[], extrapolate?: boolean,
 *   dryRun?: boolean, json?: boolean, details?: boolean }} SizeOptions p99 is milliseconds, payload bytes
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
  const { print, say } = context
  defineSize(verb).action(async (/** @type {SizeOptions} */ typedOptions) => {
    const resolved = withPeakRate(typedOptions)
    const { node: place, reserve = null, nodes = null } = resolved
    assertCombination(SIZE_OPTIONS, resolved)
    const production = readProductionOptions(resolved)
    if (production) {
      const { sizeProduction } = await import('./size-production.js')
      return sizeProduction(production, context)
    }
    const node = place === undefined ? null : readNode(place, reserve)
    if (resolved.sidecars !== undefined) await assertControlPlanes(resolved.planes ?? [])
    const experiment = createRequestedExperiment(resolved)
    // The experiment already holds these options: they must not override it. Those of the sidecars stay beside them, since a
    // pipeline refuses what its file says.
    const {
      rate,
      users,
      payload,
      neighbour,
      p99,
      file,
      sidecars,
      node: named,
      nodes: fleet,
      traffic,
      ...options
    } = withoutRequest(resolved)
    /** @type {RunOptions} */
    const runOptions = { ...options, target: 'local', profile: 'standard' }
    if (resolved.dryRun) {
      const { renderPlanned } = await import('./plan.js')
      return context.print(await renderPlanned(experiment, runOptions))
    }
    await runExperiment(
      {
        experiment,
        options: runOptions,
        async findReusable({ plan: { arms, settings }, programs, layout }, { machine }) {
          const scripts = hashScripts({ arms, programs, folders: locateKitScripts(programs) })
          const now = { machine, tools: programs.tools, scripts, layout, kit: await readKit(), settings }
          return openReusableTrials({ folders: options.from ?? [], ...now })
        },
        writeDocuments,
        announceResults,
        report({ summary, folder, isInterrupted }) {
          const { details } = options
          const [sizes, controlNeeds] = [listSizes(summary), findResult(summary, 'rollout')?.controlNeeds ?? []]
          const hints = sizes.length > 0 ? ['Paste: --format yaml, helm, compose'] : []
          // The answer's chart shows how many pods of one service fit; services of a set share the node, so they need lines of text.
          const isSet = sizes.some(({ services }) => services.length > 0)
          const fit = node && (details || isSet) ? ['', ...renderNodeFit(summary, node)] : []
          const answer = [renderRunText({ summary, folder, details, place: { node, nodes }, hints }), ...fit].join('\n')
          if (options.format) {
            say(answer)
            // An interrupted search has limits that are not confirmed: print none to paste.
            if (isInterrupted) return EXIT.interrupted
            print(renderLimits(sizes, options.format))
          } else print(options.json ? JSON.stringify(summary, null, 2) : answer)
          const isAnswered = sizes.some(size => size.isChecked) || controlNeeds.some(need => need.limits)
          return isAnswered ? EXIT.done : EXIT.noResult
        },
      },
      context,
    )
  })
}

/**
 * Sets the rate to the peak of the traffic file, if it has one and no option sets a load.
 * @param {SizeOptions} options
 * @returns {SizeOptions} the rate is rounded up, and at least 1
 */
function withPeakRate(options) {
  const { rate, file, sidecars, traffic } = options
  const peak = traffic?.requestsPerSecond?.peak
  if (rate !== undefined || file !== undefined || sidecars !== undefined || peak === undefined) return options
  return { ...options, rate: Math.max(1, Math.ceil(peak)) }
}

/**
 * Adds the options of `size`, including those of `size --from-prometheus`.
 * @param {import('commander').Command} verb
 * @returns {import('commander').Command} the same verb
 */
function defineSize(verb) {
  const file = new Option('-f, --file <yaml>', 'instead of --rate: several services with their rates (below)')
  const help = 'instead of --rate: what the control plane of so many sidecars needs (--planes pipy)'
  const sidecars = new Option('--sidecars <n>', help)
    .argParser(parseOnAxis('sidecars'))
    .conflicts(['rate', 'p99', 'file', 'users', 'payload', 'node', 'nodes', 'format', 'from', 'extrapolate'])
    .conflicts(['interception', 'protocol', 'tls', 'neighbour'])
  const format = new Option('--format <name>', 'print the limits alone, to paste, and the rest to stderr')
  const rate = new Option('--rate <n>', 'requests per second to hold').argParser(parseOnAxis('ratePerSecond'))
  withOptions(verb, 'maxMinutes', 'yes', 'live', 'metrics').addOption(rate)
  withOptions(verb, 'p99')
    .addOption(file.conflicts(['rate', 'extrapolate']))
    .addOption(sidecars)
    .option('--link <name>', `a link of bench/topologies; default: ${DEFAULT_LINK}`)
    .option('--users <n>', 'the most requests at a time; default: 64', parseOnAxis('users'))
    .option('--payload <size>', 'posted and echoed, such as 14KiB; default: 1KiB', parseOnAxis('payloadBytes'))
    .addOption(createFeaturesOption())
  withRequest(verb)
    .option(
      '--interception <way>',
      'redirect: by rules in network namespaces, as in a mesh',
      parseOnAxis('interception'),
    )
    .option('--protocol <name>', 'http/1.1 (default), http/2, grpc or tcp', parseOnAxis('protocol'))
    .option(
      '--traffic <file>',
      'several kinds of requests with weights; --rate is its peak by default',
      parseOnAxis('traffic'),
    )
    .option('--tls <kind>', 'key type of mTLS between sidecars (default: ecdsa-p256), or plaintext', parseOnAxis('tls'))
    .option(
      '--neighbour <cores>',
      'beside a process that burns so much CPU, such as 2c: the CPU request without a limit, where the node is full',
      parseOnAxis('neighbourCores'),
    )
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
    .addOption(format.choices([...new Set([...FORMATS, ...PRODUCTION_FORMATS])]))
    .option('--from <results...>', 'take matching trials from these runs instead of measuring again')
    .option('--extrapolate', 'where no limit here holds, extrapolate from lower rates')
    .option('--seed <n>', 'seed', parseSeed)
    .option('--dry-run', 'print what would run, and how long it may take, and measure nothing')
  return addProductionOptions(withOptions(verb, 'generator', 'noPin', 'out', 'recheck'))
    .addOption(new Option('--json', 'print summary.json instead of the answer').conflicts('format'))
    .addOption(
      new Option('--details', 'print every trial and check instead of the answer').conflicts(['format', 'json']),
    )
    .addHelpText('after', () => `${FILE_HELP}\nKnown nodes, as their makers publish them:\n${listNodes().join('\n')}`)
}

/**
 * Asserts that the planes of --sidecars have a control plane that runs as a process. Unknown planes pass: they are
 * refused elsewhere.
 * @param {PlaneChoice[]} choices
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
 * @param {SizeOptions} options
 * @returns {import('../request/experiment.js').Experiment}
 * @throws {UsageError} for a file of services that does not fit the schema, or values that no experiment can have
 */
function createRequestedExperiment({ file, rate, p99: p99Ms, sidecars, extrapolate = false, ...options }) {
  if (sidecars !== undefined) return createControlExperiment(sidecars)
  const { link = DEFAULT_LINK, users = null, payload: payloadBytes = null, features = null } = options
  const { interception, protocol, tls, neighbour: neighbourCores } = options
  const requests = { ...readRequest(options), ...(options.traffic && { traffic: options.traffic }) }
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
