import { loadPlanes } from '../dataplanes/registry.js'
import { loadGenerators } from '../loads/registry.js'
import { canBindOnlyBesideWrk } from '../model/cpu-limits.js'
import { DEFAULT_GENERATOR } from '../model/tools.js'
import { choosePlanes, createPlan } from '../plan/plan.js'
import { renderQuota } from '../request/constraints/plans.js'
import { findControl } from '../services/control.js'
import { createPlacementRule } from '../services/placement.js'
import { isServedByNode } from '../services/specs.js'
import { TIMEOUTS } from '../services/topology.js'
import { findPipelineFile } from '../tools/pipeline-file.js'
import { findAppRuntime, findPrograms } from './programs.js'
import { readTopology } from './read-experiment.js'
import { assertKnownPlanes, assertPlanRunnable, findQuota, findUnsupported, listControls } from './supported.js'

/**
 * A plan from an experiment and its options, with the programs that it needs.
 * @import { Arm, LoadGenerator, PlaneChoice, Site, Topology, TrialKind } from '../model/types.ts'
 * @import { Experiment } from '../request/experiment.js'
 * @import { Overrides } from '../request/question.js'
 * @import { Preparation } from '../run/execute.js'
 * @import { Pipelines, ProgramSearch, Planes } from './programs.js'
 * @typedef {{ experiment: Experiment, overrides: Overrides, thresholds?: string[], load?: LoadGenerator }} PlanRequest load: absent: the
 *   generator of the overrides
 * @typedef {{ planes: Planes, loads: Record<string, LoadGenerator> }} Loaded planes: those of the request; loads: all
 */

/**
 * Plans a run. It does not look for programs: it uses those that were found before, if any.
 * @param {PlanRequest & Loaded & { site: Pick<Site, 'cpus' | 'cores' | 'limits'> } & Partial<ProgramSearch>} options
 * @returns {Pick<Preparation, 'plan' | 'layout'> & { holdsWith: (found: ProgramSearch) => boolean }} holdsWith: says
 *   whether the plan stays the same with programs that were found since
 * @throws {import('../lib/errors.js').UsageError} for a request that cannot be measured
 */
export function planRun({ planes, loads, experiment, overrides, site, ...request }) {
  const { load = chooseLoad(loads, overrides), ...search } = request
  const { missing = [], tools = {}, lacks = {} } = search
  const { cpus, cores, limits } = site
  const { isLoadElsewhere } = overrides
  const pinned = overrides.isPinned ? cores : []
  const pinnableCpus = isLoadElsewhere ? 0 : pinned.flat().length
  assertKnownPlanes(planes, choosePlanes(experiment, overrides))
  /** @type {{ arm: Arm, kind: TrialKind, topology: Topology, reason: string | null }[]} */
  const judgedArms = []
  const plan = createPlan({
    experiment,
    overrides,
    cpus,
    pinnableCpus,
    isAnyProgram: name => planes[name].pipelines === 'only',
    missing,
    hasSidecars: name => planes[name].createSidecar !== null,
    controlsOf: name => listControls(planes[name]),
    runsControl: choice => findControl(planes[choice.plane], choice)?.createProcess != null,
    realMostOf: choice => findControl(planes[choice.plane], choice)?.simulates?.realMost ?? null,
    idleSecondsOf: ({ plane, profile }) =>
      planes[plane].findIdleSeconds?.({ profile, timeouts: TIMEOUTS }) ?? Number.POSITIVE_INFINITY,
    findUnsupported(arm, kind) {
      const topology = readTopology(arm.link)
      const reason = findUnsupported({ planes, arm, kind, topology, tools, lacks, cpus, pinnableCpus, limits })
      judgedArms.push({ arm, kind, topology, reason })
      return reason
    },
  })
  assertPlanRunnable({ plan, load, isLoadElsewhere, limits })
  const topologies = Object.fromEntries(plan.arms.map(({ link }) => [link, readTopology(link)]))
  const placementOf = createPlacementRule({ arms: plan.arms, topologies, cores: pinned, isLoadElsewhere })
  const notes = noteQuota(plan.arms, limits)
  if (plan.settings.isPinned && plan.arms.some(arm => !arm.load.isInterleaved && placementOf(arm) === null)) {
    const roles = isLoadElsewhere ? 'applications' : 'generator, applications'
    const why = cores.length > 0 ? `${cpus} CPUs are too few to give each its own` : 'they cannot be given out here'
    const scope = plan.arms.some(arm => arm.load.isInterleaved) ? 'in windows of one arm, ' : ''
    notes.push(`${scope}${roles} and sidecars share all CPUs: ${why}`)
  }
  const canBindBesideWrk = (/** @type {Arm} */ { cpuLimitCores: cpuLimit, link, ...arm }) =>
    cpuLimit !== null &&
    loads.wrk.findUnsupported(arm) === null &&
    canBindOnlyBesideWrk({ cpuLimit, cpus, sidecars: topologies[link].services.length })
  if (load !== loads.wrk && !isLoadElsewhere && plan.arms.some(canBindBesideWrk))
    notes.push(
      'beside wrk, which takes a fraction of the CPU of k6, sidecars can bind at this cap: add --generator wrk',
    )
  return {
    plan: { ...plan, notes: [...plan.notes, ...notes] },
    layout: { topologies, placementOf },
    holdsWith: ({ missing, ...programs }) =>
      missing.length === 0 &&
      judgedArms.every(
        ({ reason, ...judged }) =>
          findUnsupported({ planes, ...judged, ...programs, cpus, pinnableCpus, limits }) === reason,
      ),
  }
}

/**
 * Drafts the plan of a request whose planes may be folders with a `pipeline.yaml`. It looks for no programs, so that
 * a wrong request is refused before any is searched or fetched.
 * @param {PlanRequest & { site: Pick<Site, 'cpus' | 'cores' | 'limits'> }} options
 * @returns {Promise<ReturnType<typeof planRun> & { request: PlanRequest & Loaded & { load: LoadGenerator }, chosen:
 *   PlaneChoice[], pipelines: Pipelines, ofPipelines: typeof import('./own-pipelines.js') | null }>} request: with
 *   what the pipelines need; chosen: the choices of planes; pipelines: by variant; ofPipelines: null: no plane is
 *   such a folder
 * @throws {import('../lib/errors.js').UsageError} for a request that cannot be measured
 */
export async function draftPlan({ site, ...named }) {
  const loaded = await loadRegistries(named)
  const load = named.load ?? chooseLoad(loaded.loads, named.overrides)
  const chosen = choosePlanes(named.experiment, named.overrides)
  const hasPipelines = chosen.some(({ variant }) => variant !== null && findPipelineFile(variant) !== null)
  const ofPipelines = hasPipelines ? await import('./own-pipelines.js') : null
  const pipelines = ofPipelines?.findPipelines(loaded.planes, chosen) ?? {}
  const overrides = ofPipelines?.overrideForPipelines(named.overrides, { pipelines, load }) ?? named.overrides
  const request = { ...named, ...loaded, load, overrides }
  const draft = planRun({ ...request, site })
  ofPipelines?.assertPipelineArms(draft.plan.arms, { pipelines, experiment: named.experiment.name })
  return { ...draft, request, chosen, pipelines, ofPipelines }
}

/**
 * Plans a run, and finds the programs that it needs.
 * @param {PlanRequest & { app: 'pipy' | 'node' | null, site: Pick<Site, 'cpus' | 'cores' | 'limits' | 'findTool'>,
 *   say: (line: string) => void }} options app: what serves the applications; null: Pipy, else Node
 * @returns {Promise<Preparation>}
 * @throws {import('../lib/errors.js').UsageError} for a request that cannot be measured; {BenchError} for a missing
 *   program
 */
export async function prepare({ app, site, say, thresholds = [], ...named }) {
  const draft = await draftPlan({ ...named, site })
  const { request, chosen, pipelines, ofPipelines } = draft
  const { planes, load, overrides } = request
  const { findTool } = site
  if (thresholds.length > 0) await assertThresholds(thresholds, draft)
  const programs = await findPrograms({
    load,
    planes,
    chosen,
    pipelines,
    isPlaneRequired: overrides.planes !== null,
    arms: draft.plan.arms,
    findTool,
  })
  ofPipelines?.assertVersions(planes, { chosen, pipelines, tools: programs.tools })
  const { plan, layout } = draft.holdsWith(programs) ? draft : planRun({ ...request, site, ...programs })
  const findRuntime = (/** @type {'node' | null} */ only) =>
    findAppRuntime({ app: only ?? app, tools: programs.tools, findTool, say })
  // Only Node serves gRPC and answers in chunks, even if Pipy serves the other applications.
  const callRuntime = plan.arms.some(isServedByNode) ? await findRuntime('node') : null
  const appRuntime = callRuntime && plan.arms.every(isServedByNode) ? callRuntime : await findRuntime(null)
  const served = appRuntime.name === 'pipy' ? 'pipy' : 'node'
  return {
    plan: { ...plan, settings: { ...plan.settings, app: served } },
    layout,
    programs: {
      planes,
      load,
      tools: { ...programs.tools, [appRuntime.name]: appRuntime, ...(callRuntime && { node: callRuntime }) },
      appRuntime,
      scripts: programs.scripts,
      ...(ofPipelines && { pipelines }),
    },
  }
}

/**
 * Asserts before a run that its thresholds can be evaluated.
 * @param {string[]} thresholds the values of --threshold
 * @param {Pick<Preparation, 'plan' | 'layout'>} planned
 * @throws {import('../lib/errors.js').UsageError} for the first that cannot
 */
async function assertThresholds(thresholds, { plan, layout }) {
  const { parseThreshold } = await import('../analysis/thresholds.js')
  const services = Object.values(layout.topologies).flatMap(topology => topology.services.map(({ name }) => name))
  for (const expression of thresholds) parseThreshold(expression, plan.arms, services)
}

/**
 * Chooses the generator that the overrides name.
 * @param {Loaded['loads']} loads all generators, by name
 * @param {Overrides} overrides
 * @returns {LoadGenerator}
 */
function chooseLoad(loads, { generator = DEFAULT_GENERATOR }) {
  return loads[generator]
}

/**
 * Loads the planes of a request, and all generators.
 * @param {Pick<PlanRequest, 'experiment' | 'overrides'>} options
 * @returns {Promise<Loaded>}
 */
async function loadRegistries({ experiment, overrides }) {
  const names = choosePlanes(experiment, overrides).map(({ plane }) => plane)
  const [planes, loads] = await Promise.all([loadPlanes(names), loadGenerators()])
  return { planes, loads }
}

/**
 * Renders the note that this job or container has a CPU quota, if arms have CPU limits.
 * @param {Arm[]} arms
 * @param {Site['limits']} limits
 * @returns {string[]} []: there is nothing to note
 */
function noteQuota(arms, limits) {
  const quota = findQuota(limits)
  if (quota === null || arms.every(({ cpuLimitCores }) => cpuLimitCores === null)) return []
  return [`${renderQuota(quota)}: sidecars, applications and the load share them`]
}
