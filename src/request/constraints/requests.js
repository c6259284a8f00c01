import { KINDS, listKinds } from '../../kinds/registry.js'
import { computeServiceP99Ms, createRequestKind, REQUEST_AXES, WITHOUT_REQUEST_BODY } from '../../model/requests.js'
import { listRequestKinds } from '../../model/traffic.js'
import { isOverridden, readValues, renderSource } from '../part-request.js'

/**
 * Constraints between the options and the experiment file of one part of a run. Pure.
 * @import { AxisName } from '../../model/types.ts'
 * @import { Constraint } from '../constraint.js'
 * @import { PartRequest } from '../part-request.js'
 */

/**
 * Says whether the experiment has no load.
 * @param {PartRequest} request
 */
const hasNoLoad = ({ experiment: { load } }) => load.kind === 'idle'

/**
 * Renders that an experiment cannot have an option, and the advice to leave it out.
 * @param {string} option as the user wrote it
 * @param {PartRequest} request
 * @param {string} reason the predicate of the experiment, such as `has no load`
 * @returns {string}
 */
const renderOptionRefusal = (option, { experiment: { name } }, reason) => `${option}: ${name} ${reason}: leave it out`

/** Options of a load, which idle arms do not have. @type {Constraint<PartRequest>[]} */
const LOAD_OPTIONS = /** @type {const} */ ([
  ['ratePerSecond', '--rate'],
  ['users', '--users'],
  ['payloadBytes', '--payload'],
  ['method', '--method'],
  ['requestBytes', '--request'],
  ['requestHeaderBytes', '--request-headers'],
  ['responseBytes', '--response'],
  ['serviceTime', '--service-time'],
  ['chunks', '--chunks'],
  ['traffic', '--traffic'],
]).map(([on, option]) => ({
  on,
  conflict: hasNoLoad,
  message: request => renderOptionRefusal(option, request, 'has no load'),
}))

/** A payload is the size of both bodies, and excludes a size of one of them. @type {Constraint<PartRequest>[]} */
const SIZES = /** @type {const} */ (['requestBytes', 'responseBytes']).map(on => ({
  on,
  conflict: request => readValues(request, 'payloadBytes'),
  message: request =>
    isOverridden(request, 'payloadBytes')
      ? `--payload is the size of a request and of its answer: leave it out beside ${renderSource(request, on)}`
      : renderOptionRefusal(renderSource(request, on), request, 'varies the payload, which is the size of both bodies'),
}))

/**
 * A mix sets the parts of a request for each of its kinds, and excludes options that set them for all.
 * @type {Constraint<PartRequest>[]}
 */
const MIXES = /** @type {const} */ (['payloadBytes', ...REQUEST_AXES]).map(axis => ({
  on: 'traffic',
  conflict: request => readValues(request, axis),
  message: request =>
    `${renderSource(request, 'traffic')} says of each kind of request what ${renderSource(request, axis)} says of all: leave one of the two out`,
}))

/** @type {Constraint<PartRequest>[]} */
const BODIES = [
  ...MIXES,
  ...SIZES,
  {
    on: 'requestBytes',
    conflict: request =>
      readValues(request, 'requestBytes')?.some(bytes => bytes > 0) &&
      readValues(request, 'method')?.find(method => WITHOUT_REQUEST_BODY.includes(method)),
    message: (request, method) =>
      `${renderSource(request, 'requestBytes')}: a ${method} has no body (RFC 9110, 9.3), and proxies may refuse one: leave it out, or take --method POST`,
  },
  {
    on: 'responseBytes',
    conflict: request =>
      readValues(request, 'responseBytes')?.some(bytes => bytes > 0) && readValues(request, 'method')?.includes('HEAD'),
    message: request =>
      `${renderSource(request, 'responseBytes')}: an answer to HEAD has no body: leave it out, or take --method GET`,
  },
  {
    on: 'always',
    conflict: findSlowRequest,
    message: (request, { source, p99Ms }) =>
      `${renderSource(request, source)}: the application itself has a p99 of ${p99Ms} ms, and the p99 of at most ${findLowestP99Ms(request)} ms, which includes it, leaves nothing for sidecars: give a --p99 well above ${p99Ms}ms, or a shorter service time`,
  },
]

/**
 * Says whether an experiment does not take --measure: it has no load, keeps its services, or has kinds of trials other than cost and
 * capacity; or the option names cost, and the rates are calibrated.
 * @param {PartRequest} request
 */
function cannotChooseMeasure(request) {
  const { experiment, overrides, axes } = request
  const kinds = listKinds({ ...experiment, axes })
  const hasOtherKind = kinds.some(kind => kind !== 'cost' && kind !== 'capacity')
  // Calibrated rates follow from the capacity of each plane alone, and interleaved arms are not calibrated.
  const needsCapacity = experiment.mostOfCapacity !== null && overrides.measure?.includes('cost')
  return hasOtherKind || needsCapacity || hasNoLoad(request) || experiment.keepsServices
}

/**
 * Finds the first requests for which the application alone takes as long as the p99 of a search allows, or longer.
 * @param {PartRequest} request
 * @returns {{ source: 'serviceTime' | 'chunks' | 'traffic', p99Ms: number } | undefined} source: the axis that takes the time,
 *   `serviceTime` if both do; p99Ms: of the application alone; undefined: there are none
 */
function findSlowRequest(request) {
  const listAxisValues = (/** @type {AxisName} */ axis) => readValues(request, axis) ?? [null]
  // The payload makes no difference to the p99: 1 byte stands for any.
  const mixes = listAxisValues('traffic').flatMap(traffic =>
    traffic ? [{ source: /** @type {const} */ ('traffic'), kinds: listRequestKinds(traffic, 1) }] : [],
  )
  const singles = listAxisValues('serviceTime').flatMap(serviceTime =>
    listAxisValues('chunks').map(chunks => ({
      source: serviceTime ? /** @type {const} */ ('serviceTime') : /** @type {const} */ ('chunks'),
      kinds: [createRequestKind({ serviceTime, chunks }, 1)],
    })),
  )
  return [...mixes, ...singles]
    .map(({ source, kinds }) => ({ source, p99Ms: computeServiceP99Ms(kinds) }))
    .find(({ p99Ms }) => p99Ms >= findLowestP99Ms(request))
}

/**
 * Finds the lowest p99 limit of a search.
 * @param {PartRequest} request
 * @returns {number} in milliseconds; Infinity: there is no search, or one without a p99
 */
function findLowestP99Ms({ experiment: { search } }) {
  if (search === null) return Number.POSITIVE_INFINITY
  if (search.kind === 'services') return Math.min(...search.services.map(({ p99Ms }) => p99Ms))
  return search.p99Ms ?? Number.POSITIVE_INFINITY
}

/** --precision applies to ratios of CPU per request, which the rounds of these parts do not give. @type {Constraint<PartRequest>[]} */
const IMPRECISE = /** @type {[Constraint<PartRequest>['conflict'], string][]} */ ([
  [({ kind }) => KINDS[kind].choosesTrials, 'is a search, and has no rounds'],
  [hasNoLoad, 'has no requests, and so no CPU per request'],
  [({ experiment }) => experiment.keepsServices, 'watches the same processes over time'],
]).map(([conflict, reason]) => ({
  on: 'precision',
  conflict,
  message: ({ experiment: { name } }) => `--precision is for ratios of CPU per request, and ${name} ${reason}`,
}))

/** @type {Constraint<PartRequest>[]} */
export const REQUESTS = [
  {
    on: 'target',
    conflict: ({ experiment, overrides: { target } }) => target !== undefined && !experiment.targets.includes(target),
    message: ({ experiment: { name, targets } }) => `${name} runs on ${targets.join(' and ')} only`,
  },
  {
    on: 'samples',
    conflict: ({ overrides: { samples }, axes }) => samples === 'kubelet' && axes.sidecars,
    message: request =>
      renderOptionRefusal('--samples kubelet', request, 'needs the reader on the node, which asks the sidecars'),
  },
  {
    on: 'measure',
    conflict: cannotChooseMeasure,
    message: request =>
      renderOptionRefusal(`--measure ${request.overrides.measure}`, request, 'measures something else'),
  },
  {
    on: 'cpuLimits',
    kinds: ['capacity', 'search'],
    conflict: ({ overrides: { cpuLimits }, cpus }) =>
      Array.isArray(cpuLimits) && cpuLimits.find(cores => Math.ceil(cores) > cpus),
    message: ({ cpus }, cores) => `--cpu ${cores}: this machine has ${cpus} CPUs; give at most ${cpus}, or --cpu none`,
  },
  {
    on: 'podCpuCores',
    conflict: request => readValues(request, 'podCpuCores')?.find(cores => Math.ceil(cores ?? 0) > request.cpus),
    message: (request, cores) =>
      `${renderSource(request, 'podCpuCores')}: ${cores} cores, and this machine has ${request.cpus} CPUs: give at most ${request.cpus}`,
  },
  {
    on: 'neighbourCores',
    // An experiment file has the same neighbour on every machine, and is not refused on a small one; for `size` it is an option.
    conflict: ({ overrides, axes, experiment, cpus }) =>
      (overrides.axes.neighbourCores ?? (experiment.search ? axes.neighbourCores : undefined))?.find(
        cores => Math.ceil(Number(cores)) > cpus,
      ),
    message: (request, cores) =>
      `--neighbour ${cores}c: ${cores} CPUs, and this machine has ${request.cpus}: give at most --neighbour ${request.cpus}c, which fills it`,
  },
  ...LOAD_OPTIONS,
  ...BODIES,
  {
    on: 'burstFactor',
    conflict: ({ axes }) => axes.burstSeconds === undefined,
    message: request => renderOptionRefusal('--burst', request, 'has no bursts, as the experiment burst has'),
  },
  {
    on: 'generator',
    conflict: ({ axes }) => axes.sidecars,
    message: request => renderOptionRefusal('--generator', request, 'has no load'),
  },
  {
    on: 'p99Ms',
    conflict: ({ kind }) => KINDS[kind].withP99Bound === undefined,
    message: ({ experiment: { name } }) => `--p99 applies only to searches; ${name} is not one: leave it out`,
  },
  {
    on: 'rounds',
    conflict: ({ kind }) => KINDS[kind].choosesTrials,
    message: request => renderOptionRefusal('--rounds', request, 'is a search, and has no rounds'),
  },
  {
    on: 'pairs',
    conflict: ({ kind }) => kind === 'cost',
    message: request =>
      renderOptionRefusal('--pairs', request, 'has a load in turns, which would go to one pair alone'),
  },
  {
    on: 'services',
    conflict: request => readValues(request, 'pairs')?.some(Boolean),
    message: request => renderOptionRefusal('--services', request, 'has pairs, each with one server'),
  },
  {
    on: 'ending',
    conflict: ({ experiment }) => experiment.keepsServices,
    message: ({ experiment: { name } }) => `${name} ends sidecars, whose services do not stay: leave keepsServices out`,
  },
  {
    on: 'search',
    conflict: ({ experiment: { search }, planes, hasSidecars }) =>
      search?.kind !== 'knee' && planes.find(({ plane }) => !hasSidecars(plane)),
    message: (request, { plane }) =>
      renderOptionRefusal(`--planes ${plane}`, request, 'looks for a limit of sidecars, and it has none'),
  },
  ...IMPRECISE,
  {
    on: 'precision',
    conflict: ({ overrides }) => overrides.rounds !== null,
    message: () => '--precision decides how many rounds there are: leave out --rounds',
  },
]
