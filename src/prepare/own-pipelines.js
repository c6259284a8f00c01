import { BenchError, UsageError } from '../lib/errors.js'
import { assertPipelineVersion } from '../model/pipeline.js'
import {
  echoesPayload,
  hasFixedPorts,
  hasServerTls,
  hasUpstreamTls,
  isPayloadPosted,
  summariseRequest,
} from '../model/pipeline-traffic.js'
import { DEFAULT_GENERATOR, findSidecarTool } from '../model/tools.js'
import { assertConstraints } from '../request/constraint.js'
import { LINK, PIPELINE_ARMS, PIPELINES } from '../request/constraints/pipelines.js'
import { readPipeline } from '../tools/read-pipeline.js'
import { findToolSpec } from './programs.js'

/**
 * Users' own pipelines (pipeline.yaml): reads them, and checks and completes a run by what they need.
 * @import { Arm, LoadGenerator, PlaneChoice, Tool } from '../model/types.ts'
 * @import { Overrides } from '../request/question.js'
 * @import { Pipeline } from '../model/pipeline.js'
 * @import { Pipelines, Planes } from './programs.js'
 */

/**
 * Reads the pipeline.yaml of each choice that has one.
 * @param {Planes} planes
 * @param {PlaneChoice[]} chosen the choices of planes
 * @returns {Pipelines} by variant; {}: no choice has one
 * @throws {UsageError} if a pipeline.yaml or its scripts are not valid, the plane of a choice runs no pipelines, or the pipeline of
 *   `proxy` names no program; the system's error if a file cannot be read
 */
export function readPipelines(planes, chosen) {
  /** @type {Pipelines} */
  const pipelines = {}
  for (const { plane, variant } of chosen) {
    const pipeline = variant === null ? null : readPipeline(variant)
    if (variant === null || pipeline === null) continue
    if (planes[plane]?.pipelines === undefined)
      throw new UsageError(
        `--planes ${plane}=${variant}: the kit writes the configuration of ${plane}: run your own with proxy=${variant}`,
      )
    if (planes[plane].pipelines === 'only' && pipeline.program === null)
      throw new UsageError(`${pipeline.file}: program: it is missing: name the program that it starts, such as envoy`)
    pipelines[variant] = pipeline
  }
  return pipelines
}

/**
 * Asserts that the program of each pipeline has the version that its scripts need. A missing program is accepted.
 * @param {Planes} planes
 * @param {{ chosen: PlaneChoice[], pipelines: Pipelines, tools: Record<string, Tool> }} options chosen: the choices
 *   of planes; tools: the programs that were found
 * @throws {UsageError} if a program has another version
 */
export function assertPipelineVersions(planes, { chosen, pipelines, tools }) {
  for (const choice of chosen) {
    const pipeline = choice.variant === null ? undefined : pipelines[choice.variant]
    const tool = pipeline && findSidecarTool(tools, { tool: findToolSpec(planes, choice), variant: choice.variant })
    if (tool) assertPipelineVersion(pipeline, tool)
  }
}

/**
 * Overrides the link, TLS, requests and namespaces by those that the pipelines need.
 * @param {Overrides} overrides
 * @param {{ pipelines: Pipelines, load: LoadGenerator }} options
 * @returns {Overrides} without pipelines, the same object
 * @throws {UsageError} for an option that a pipeline excludes, or pipelines that speak TLS on different sides
 */
export function overrideForPipelines(overrides, { pipelines, load }) {
  const ownPipelines = Object.values(pipelines)
  const { axes, target = 'local', isLoadElsewhere = false } = overrides
  for (const pipeline of ownPipelines)
    assertConstraints(PIPELINES, {
      file: pipeline.file,
      axes,
      target,
      generator: load.name === DEFAULT_GENERATOR ? null : load.name,
      isLoadElsewhere,
      hasTls: hasServerTls(pipeline) || hasUpstreamTls(pipeline),
      isEchoed: echoesPayload(pipeline),
    })
  if (ownPipelines.length === 0) return overrides
  assertOneScheme(ownPipelines)
  const hasNamespaces = ownPipelines.some(hasFixedPorts)
  const interception = axes.interception ?? ['none']
  const unechoed = Object.entries(pipelines).filter(([, pipeline]) => !echoesPayload(pipeline))
  return {
    ...overrides,
    pipelineRequests: Object.fromEntries(
      unechoed.map(([variant, pipeline]) => [variant, bytes => summariseRequest(pipeline, bytes)]),
    ),
    axes: { ...axes, link: [LINK], tls: chooseTls(ownPipelines, axes.tls), ...(hasNamespaces && { interception }) },
    ...(ownPipelines.some(hasServerTls) && { hasCertificate: true }),
    ...(hasNamespaces && { hasNamespaces }),
  }
}

/**
 * Chooses the values of the TLS axis.
 * @param {Pipeline[]} pipelines
 * @param {string[]} [keyTypes] the values of --tls; ecdsa-p256 by default
 * @returns {string[]} the key types; `plaintext` alone, if no pipeline speaks TLS
 */
export function chooseTls(pipelines, keyTypes = ['ecdsa-p256']) {
  return pipelines.some(pipeline => hasServerTls(pipeline) || hasUpstreamTls(pipeline)) ? keyTypes : ['plaintext']
}

/**
 * Asserts that all pipelines of a run speak TLS on the same sides: listen, upstream, both or none.
 * @param {Pipeline[]} pipelines may be []
 * @throws {UsageError} if one differs from the first
 */
export function assertOneScheme([first, ...others]) {
  for (const side of /** @type {const} */ (['listen', 'upstream'])) {
    const readScheme = (/** @type {Pipeline} */ { document }) => document[side]?.scheme ?? 'http'
    const other = others.find(pipeline => readScheme(pipeline) !== readScheme(first))
    if (other)
      throw new UsageError(
        `${other.file}: ${side}: ${readScheme(other)}, and ${first.file} has ${readScheme(first)}: what TLS costs would be taken for the cost of the scripts: give both the same scheme`,
      )
  }
}

/**
 * Asserts that pipelines can do everything in which arms differ: else one process under several names would be
 * compared with itself.
 * @param {Arm[]} arms
 * @param {{ pipelines: Pipelines, experiment: string }} options experiment: its name
 * @throws {UsageError} for an arm that a pipeline cannot serve, or if arms of a pipeline differ in their workers, or
 *   in a payload that it does not post
 */
export function assertPipelineArms(arms, { pipelines, experiment }) {
  for (const [variant, pipeline] of Object.entries(pipelines)) {
    const { file } = pipeline
    const armsOfPipeline = arms.filter(arm => arm.variant === variant)
    for (const arm of armsOfPipeline) assertConstraints(PIPELINE_ARMS, { file, experiment, arm })
    const workers = [...new Set(armsOfPipeline.map(({ conditions }) => conditions.workers))]
    if (workers.length > 1)
      throw new UsageError(
        `${file}: ${experiment} varies the workers (${workers.join(', ')}), and the threads of a pipeline are those of its file: write workers there, and choose an experiment such as cost`,
      )
    const sizes = [...new Set(armsOfPipeline.map(({ load }) => load.payloadBytes))]
    if (sizes.length > 1 && !isPayloadPosted(pipeline))
      throw new UsageError(
        `${file}: ${experiment} varies the payload (${sizes.join(', ')} bytes), and the request of this file has a body of its own, or none: choose one --payload`,
      )
  }
}

/**
 * Creates the error that scripts with fixed ports need network namespaces.
 * @param {Pipelines | undefined} pipelines undefined: the run has none
 * @param {Error} error of the check for namespaces
 * @returns {Error} `error` itself, if no scripts fix a port
 */
export function createNamespacesError(pipelines, error) {
  const pipeline = Object.values(pipelines ?? {}).find(hasFixedPorts)
  if (!pipeline) return error
  return new BenchError(
    `${pipeline.file}: its scripts fix a port, so each start needs a network namespace: ${error.message}; or leave out the port, and write {{listen.port}} and {{upstream.port}} by replace, files, arguments or environment`,
    { cause: error },
  )
}
