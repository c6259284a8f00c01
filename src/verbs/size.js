import { readFileSync } from 'node:fs'
import { Option } from 'commander'
import { listNodes, readNode } from '../analysis/nodes.js'
import { dataPlanes } from '../dataplanes/registry.js'
import { tellFindings } from '../kinds/sections.js'
import { UsageError } from '../lib/errors.js'
import { EXIT } from '../lib/exit-status.js'
import { readKit } from '../lib/kit.js'
import { takeEvery } from '../lib/take-every.js'
import { FEATURE_NAMES } from '../model/features.js'
import { parseServices } from '../plan/services-file.js'
import { createControlExperiment, createServicesExperiment, createSizeExperiment } from '../plan/size-experiment.js'
import { measure } from '../prepare/measure.js'
import { GENERATOR, parseMilliseconds, parseOnAxis, parsePlanes, parseSeed, withLength } from '../prepare/options.js'
import { announce, assertShort, openSite, prepareWith, sayLacks } from '../prepare/preparation.js'
import { FORMATS, renderLimits } from '../report/limits.js'
import { renderNodeFit } from '../report/node-fit.js'
import { findScriptFolders } from '../run/execute.js'
import { openReusable } from '../run/reusable.js'
import { hashScripts } from '../run/scripts.js'
import { findControl } from '../services/control.js'
import { sayWhere, writeDocuments } from './documents.js'
import { withWatchers } from './watchers.js'

/**
 * `size`: the smallest limits that hold a load, and what a control plane needs.
 * @import { Command } from 'commander'
 * @import { PlaneChoice } from '../model/types.ts'
 * @import { Context } from './program.js'
 */

const FILE_HELP = `
A file of services (-f); p99 and payload are those of --p99 and --payload where a service says none:
  services:
    - { name: orders, requestsPerSecond: 300, p99: 20ms }
    - { name: images, requestsPerSecond: 40, p99: 50ms, payload: 64KiB }
`

/**
 * @param {Command} verb
 * @param {Context} context
 */
export function addSize(verb, context) {
  const { print, say, end, signal } = context
  withWatchers(withLength(verb))
    .option('--rate <n>', 'requests per second to hold', parseOnAxis('ratePerSecond'))
    .option('--p99 <time>', 'the highest p99 that counts as held, such as 20ms', parseMilliseconds)
    .addOption(
      new Option('-f, --file <yaml>', 'instead of --rate: several services with their rates (below)').conflicts([
        ...['rate', 'extrapolate'],
      ]),
    )
    .addOption(
      new Option(
        '--sidecars <n>',
        'instead of --rate: what the control plane of so many sidecars needs (--planes pipy)',
      )
        .argParser(parseOnAxis('sidecars'))
        .conflicts(['rate', 'p99', 'file', 'users', 'payload', 'node', 'format', 'from', 'extrapolate']),
    )
    .option('--link <name>', 'a link of bench/topologies', 'gateway-ratings')
    .option('--users <n>', 'the most requests at a time', parseOnAxis('users'))
    .option('--payload <size>', 'posted and echoed, such as 1KiB', parseOnAxis('payloadBytes'))
    .option(
      '--features <set>',
      `of each sidecar: lean, all, or names joined by +, such as access-log+metrics; names: ${FEATURE_NAMES.join(', ')}`,
      parseOnAxis('features'),
    )
    .option('--planes <list>', 'data planes, each a name, name:profile or name=./scripts', parsePlanes)
    .option('--node <node>', 'how many such sidecars fit: 2c4g (cores, GiB), or a known node (below)')
    .option('--reserve <what>', 'of the node, for the system and the applications: 0.5c, 512m, or 0.5c,512m')
    .addOption(
      new Option('--format <name>', 'print the limits alone, to paste, and the rest to stderr').choices(FORMATS),
    )
    .option('--from <results...>', 'take matching trials from these runs instead of measuring again')
    .option('--extrapolate', 'where no limit here holds, extrapolate from lower rates')
    .option('--seed <n>', 'seed', parseSeed)
    .addOption(GENERATOR())
    .option('--no-pin', 'let generator, applications and sidecars share CPUs')
    .option('--out <dir>', 'results folder; must not exist or be empty')
    .addOption(new Option('--json', 'print summary.json instead of the answer').conflicts('format'))
    .addHelpText('after', () => `${FILE_HELP}\nKnown nodes, as their makers publish them:\n${listNodes().join('\n')}`)
    .action(async options => {
      const node = readAskedNode(options)
      const experiment = createAskedExperiment(options)
      // What the experiment already says is no override of it.
      const { rate, users, payload, features, link, p99, file, sidecars, ...own } = options
      const site = await openSite({ ...own, target: 'local' }, context)
      if (site === null) return
      /** @type {Awaited<ReturnType<typeof context.watch>> | null} */
      let watchers = null
      let isReported = true
      try {
        watchers = await context.watch(options)
        const asked = { experiment, options: { ...own, profile: 'standard' }, site }
        const preparation = await prepareWith(asked, context)
        const { plan, programs, layout } = preparation
        for (const note of announce(plan)) say(note)
        assertShort(plan, options)
        const reusable = openReusable({
          folders: options.from ?? [],
          machine: site.machine,
          tools: programs.tools,
          scripts: hashScripts({ arms: plan.arms, planes: programs.planes, folders: findScriptFolders(programs) }),
          layout,
          kit: await readKit(),
          settings: plan.settings,
        })
        const { summary, folder } = await measure({
          preparation,
          site,
          out: options.out ?? null,
          execution: { command: process.argv.slice(2), reusable },
          watcher: watchers,
          signal,
          finish: async folder => {
            isReported = await writeDocuments(folder, context)
          },
        })
        await watchers.close()
        const answer = [...tellFindings(summary), ...(node ? renderNodeFit(summary, node) : [])].join('\n').trimEnd()
        if (options.format) {
          say(answer)
          print(renderLimits(summary, options.format))
        } else print(options.json ? JSON.stringify(summary, null, 2) : answer)
        const isAnswered = summary.sizes.some(size => size.isChecked) || summary.controlNeeds?.some(need => need.limits)
        if (!isAnswered) end(EXIT.nothingShown)
        if (!isReported) end(EXIT.failed)
        sayWhere(folder, context)
        sayLacks(preparation, context)
      } finally {
        await takeEvery([() => watchers?.close(), () => site.target.close()])
      }
    })
}

/**
 * @param {{ node?: string, reserve?: string }} options
 * @returns {ReturnType<typeof readNode> | null}
 * @throws {UsageError}
 */
function readAskedNode({ node, reserve }) {
  if (node !== undefined) return readNode(node, reserve ?? null)
  if (reserve === undefined) return null
  throw new UsageError(`--reserve ${reserve} needs --node, such as --node 2c4g`)
}

/**
 * @param {any} options words of the command line
 * @throws {UsageError}
 */
function createAskedExperiment({ file, rate, p99, sidecars, planes, link, extrapolate = false, ...own }) {
  if (sidecars !== undefined) {
    assertControlled(planes ?? [])
    return createControlExperiment(sidecars)
  }
  const asked = { link, users: own.users ?? null, payloadBytes: own.payload ?? null, features: own.features ?? null }
  if (file !== undefined)
    return createServicesExperiment({ ...asked, services: readServices(file), p99Ms: p99 ?? null })
  if (rate === undefined || p99 === undefined)
    throw new UsageError(
      'size needs what to hold: --rate 500 --p99 20ms, or a file of services: -f services.yaml, or --sidecars 800 of one control plane',
    )
  return createSizeExperiment({ ...asked, ratePerSecond: rate, p99Ms: p99, isExtrapolated: extrapolate })
}

/**
 * @param {PlaneChoice[]} planes
 * @throws {UsageError} for one without a control plane that could need something
 */
function assertControlled(planes) {
  for (const choice of planes) {
    const known = dataPlanes.find(({ name }) => name === choice.plane)
    const control = known && findControl(known, choice)
    if (!known || control?.createProcess) continue
    const why = control ? `takes its configuration from ${control.name}` : 'has no control plane here'
    throw new UsageError(`--planes ${choice.plane} ${why}: no process of it needs CPU or memory; leave it out`)
  }
}

/**
 * @param {string} file
 * @throws {UsageError}
 */
function readServices(file) {
  let text
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new UsageError(`-f ${file} cannot be read: ${/** @type {Error} */ (error).message}`)
  }
  return parseServices(text, file)
}
