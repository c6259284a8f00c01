import { loadPlanes } from '../dataplanes/registry.js'
import { loadGenerators } from '../loads/registry.js'
import { canBindOnlyBesideWrk } from '../model/cpu-limits.js'
import { DEFAULT_GENERATOR } from '../model/tools.js'
import { choosePlanes, createPlan } from '../plan/plan.js'
import { renderQuota } from '../request/constraints/plans.js'
import { needsNode } from '../services/applications.js'
import { findControl } from '../services/control.js'
import { createPlacementRule } from '../services/placement.js'
import { TIMEOUTS } from '../services/sidecar-model.js'
import { findPipelineFile } from '../tools/pipeline-file.js'
import { findAppRuntime, findPrograms } from './programs.js'
import { readTopology } from './read-experiment.js'
import { assertPlaneChoices, assertPlanRunnable, findUnsupported, listControlNames, pickQuota } from './supported.js'

/**
 * Plans a run from an experiment and its options, with the programs that it needs.
 * @import { Arm, LoadGenerator, PlaneChoice, Site, Topology, TrialKind } from '../model/types.ts'
 * @import { Experiment } from '../request/experiment.js'
 * @import { Overrides } from '../request/question.js'
 * @import { Preparation } from '../run/execute.js'
 * @import { Pipelines, ProgramSearch, Planes } from './programs.js'
 * @typedef {{ planes: Planes, loads: Record<string, LoadGenerator> }} Loaded planes: those of the request; loads: all
 * @typedef {Pick<Site, 'cpus' | 'cores' | 'limits'>} PlanSite
 */

/**
 * A request for a plan.
 * @typedef {object} PlanRequest
 * @property {Experiment} experiment
 * @property {Overrides} overrides
 * @property {string[]} [thresholds] the values of --threshold
 * @property {LoadGenerator} [load] absent: the generator of the overrides
 */

/**
 * A plan before its programs are found.
 * @typedef {object} PlanDraft
 * @property {Preparation['plan']} plan
 * @property {Preparation['layout']} layout
 * @property {(programs: ProgramSearch) => boolean} isSameWith says whether the plan stays the same with the programs that were found;
 *   false also if that of a plane is missing
 */

/**
 * Plans a run. It searches for no programs, and uses those that were found before, if any.
 * @param {PlanRequest & Loaded & { site: PlanSite } & Partial<ProgramSearch>} options
 * @returns {PlanDraft}
 * @throws {import('../lib/errors.js').UsageError} for a request that cannot be measured, or a link that cannot be read
 */
export function planRun({ planes, loads, experiment, overrides, site, ...request }) {
  const { load = chooseGenerator(loads, overrides), missing = [], tools = {}, lacks = {} } = request
  const { cpus, cores, limits } = site
  const { isLoadElsewhere } = overrides
  const pinnedCores = overrides.isPinned ? cores : []
  const pinnableCpus = isLoadElsewhere ? 0 : pinnedCores.flat().length
  assertPlaneChoices(planes, choosePlanes(experiment, overrides))
  const place = { planes, cpus, pinnableCpus, limits }
  /** @type {{ arm: Arm, kind: TrialKind, topology: Topology, unsupported: ReturnType<typeof findUnsupported> }[]} */
  const judgedArms = []
  const plan = createPlan({
    experiment,
    overrides,
    cpus,
    pinnableCpus,
    missing,
    ...createPlaneReaders(planes),
    findUnsupported(arm, kind) {
      const topology = readTopology(arm.link)
      const unsupported = findUnsupported({ ...place, arm, kind, topology, tools, lacks })
      judgedArms.push({ arm, kind, topology, unsupported })
      return unsupported
    },
  })
  assertPlanRunnable({ plan, load, isLoadElsewhere, limits })
  const topologies = Object.fromEntries(plan.arms.map(({ link }) => [link, readTopology(link)]))
  const placementOf = createPlacementRule({ arms: plan.arms, topologies, cores: pinnedCores, isLoadElsewhere })
  const layout = { topologies, placementOf }
  const notes = [
    ...plan.notes,
    ...renderQuotaNotes(plan.arms, limits),
    ...renderSharingNotes({ plan, layout, site, isLoadElsewhere }),
    ...(load === loads.wrk || isLoadElsewhere ? [] : renderWrkNotes({ arms: plan.arms, layout, cpus, wrk: loads.wrk })),
  ]
  const isSameWith = (/** @type {ProgramSearch} */ { missing, tools, lacks }) =>
    missing.length === 0 &&
    judgedArms.every(
      ({ unsupported, ...judged }) =>
        findUnsupported({ ...place, ...judged, tools, lacks })?.reason === unsupported?.reason,
    )
  return { plan: { ...plan, notes }, layout, isSameWith }
}

/**
 * Creates the functions by which a plan reads facts of planes.
 * @param {Planes} planes
 * @returns {Pick<Parameters<typeof createPlan>[0],
 *   'hasOnlyPipelines' | 'hasSidecars' | 'listControls' | 'runsControl' | 'findRealMost' | 'findArmIdleSeconds'>}
 */
function createPlaneReaders(planes) {
  return {
    hasOnlyPipelines: name => planes[name].pipelines === 'only',
    hasSidecars: name => planes[name].createSidecar !== null,
    listControls: name => listControlNames(planes[name]),
    runsControl: choice => findControl(planes[choice.plane], choice)?.createProcess != null,
    findRealMost: choice => findControl(planes[choice.plane], choice)?.simulates?.realMost ?? null,
    findArmIdleSeconds: ({ plane, profile }) =>
      planes[plane].findIdleSeconds?.({ profile, timeouts: TIMEOUTS }) ?? Number.POSITIVE_INFINITY,
  }
}

/**
 * Renders the note that processes share all CPUs, though the plan wants CPUs of their own for them.
 * @param {{ plan: Pick<Preparation['plan'], 'arms' | 'settings'>, layout: Preparation['layout'], site: PlanSite,
 *   isLoadElsewhere?: boolean }} options
 * @returns {string[]} []: they need not, or interleaved arms alone do
 */
function renderSharingNotes({ plan: { arms, settings }, layout, site: { cores, cpus }, isLoadElsewhere }) {
  const isShared = arms.some(arm => !arm.load.isInterleaved && layout.placementOf(arm) === null)
  if (!settings.isPinned || !isShared) return []
  const roles = isLoadElsewhere ? 'applications' : 'generator, applications'
  const why = cores.length > 0 ? `${cpus} CPUs are too few to give each its own` : 'they cannot be given out here'
  const scope = arms.some(arm => arm.load.isInterleaved) ? 'in windows of one arm, ' : ''
  return [`${scope}${roles} and sidecars share all CPUs: ${why}`]
}

/**
 * Renders the advice to take wrk, if sidecars can bind the throughput beside it alone.
 * @param {{ arms: Arm[], layout: Preparation['layout'], cpus: number, wrk: LoadGenerator }} options
 * @returns {string[]} []: no arm that wrk can load gains by it
 */
function renderWrkNotes({ arms, layout, cpus, wrk }) {
  const canBindBesideWrk = (/** @type {Arm} */ { cpuLimitCores: cpuLimit, link, ...arm }) =>
    cpuLimit !== null &&
    wrk.findUnsupported(arm) === null &&
    canBindOnlyBesideWrk({ cpuLimit, cpus, sidecars: layout.topologies[link].services.length })
  return arms.some(canBindBesideWrk)
    ? ['beside wrk, which takes a fraction of the CPU of k6, sidecars can bind at this cap: add --generator wrk']
    : []
}

/**
 * A draft, with all from which its programs are found.
 * @typedef {object} RequestedPlan
 * @property {PlanRequest & Loaded & { load: LoadGenerator }} request its overrides have what the pipelines need
 * @property {PlaneChoice[]} chosen the choices of planes
 * @property {Pipelines} pipelines by variant
 * @property {typeof import('./own-pipelines.js') | null} pipelineModule null: no plane is a folder with a `pipeline.yaml`
 */

/**
 * Drafts the plan of a request whose planes may be folders with a `pipeline.yaml`. It searches for no programs, so that a wrong
 * request is refused before any is searched or fetched.
 * @param {PlanRequest & { site: PlanSite }} options
 * @returns {Promise<PlanDraft & RequestedPlan>}
 * @throws {import('../lib/errors.js').UsageError} for a request or a pipeline that cannot be measured; as `readPipelines`
 */
export async function draftPlan({ site, ...request }) {
  const { experiment } = request
  const loaded = await loadRegistries(request)
  const load = request.load ?? chooseGenerator(loaded.loads, request.overrides)
  const chosen = choosePlanes(experiment, request.overrides)
  const hasPipelines = chosen.some(({ variant }) => variant !== null && findPipelineFile(variant) !== null)
  const pipelineModule = hasPipelines ? await import('./own-pipelines.js') : null
  const pipelines = pipelineModule?.readPipelines(loaded.planes, chosen) ?? {}
  const overrides = pipelineModule?.overrideForPipelines(request.overrides, { pipelines, load }) ?? request.overrides
  const fullRequest = { ...request, ...loaded, load, overrides }
  const draft = planRun({ ...fullRequest, site })
  pipelineModule?.assertPipelineArms(draft.plan.arms, { pipelines, experiment: experiment.name })
  return { ...draft, request: fullRequest, chosen, pipelines, pipelineModule }
}

/**
 * Plans a run, finds the programs that it needs, and plans again if these change the plan.
 * @param {PlanRequest & { app: 'pipy' | 'node' | null, site: PlanSite & Pick<Site, 'findTool'>, say: (line: string) => void }} options
 *   app: what serves the applications; null: Pipy, or Node if there is no Pipy
 * @returns {Promise<Preparation>}
 * @throws {import('../lib/errors.js').UsageError} for a request that cannot be measured, or a threshold that cannot be evaluated;
 *   {BenchError} for a missing program; as `draftPlan` and `findPrograms`
 */
export async function createPreparation({ app, site, say, thresholds = [], ...planRequest }) {
  const draft = await draftPlan({ ...planRequest, site })
  const { request, chosen, pipelines, pipelineModule } = draft
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
  pipelineModule?.assertPipelineVersions(planes, { chosen, pipelines, tools: programs.tools })
  const { plan, layout } = draft.isSameWith(programs) ? draft : planRun({ ...request, site, ...programs })
  const findRuntime = (/** @type {'pipy' | 'node' | null} */ name) =>
    findAppRuntime({ app: name, tools: programs.tools, findTool, say })
  // Only Node serves gRPC and answers in chunks, even if Pipy serves the other applications.
  const callRuntime = plan.arms.some(needsNode) ? await findRuntime('node') : null
  const appRuntime = callRuntime && plan.arms.every(needsNode) ? callRuntime : await findRuntime(app)
  return {
    plan: { ...plan, settings: { ...plan.settings, app: appRuntime.name === 'pipy' ? 'pipy' : 'node' } },
    layout,
    programs: {
      planes,
      load,
      tools: { ...programs.tools, [appRuntime.name]: appRuntime, ...(callRuntime && { node: callRuntime }) },
      appRuntime,
      scripts: programs.scripts,
      ...(pipelineModule && { pipelines }),
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
 * Chooses the generator that the overrides name, else the default. A name that is not in `loads` was refused before.
 * @param {Loaded['loads']} loads all generators, by name
 * @param {Overrides} overrides
 * @returns {LoadGenerator}
 */
function chooseGenerator(loads, { generator = DEFAULT_GENERATOR }) {
  return loads[generator]
}

/**
 * Loads the planes of a request, without those that the kit does not have, and all generators.
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
 * @returns {string[]} []: there is no quota, or no arm has a CPU limit
 */
function renderQuotaNotes(arms, limits) {
  const quota = pickQuota(limits)
  if (quota === null || arms.every(({ cpuLimitCores }) => cpuLimitCores === null)) return []
  return [`${renderQuota(quota)}: sidecars, applications and the load share them`]
}
