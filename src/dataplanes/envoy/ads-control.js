import { createControlProcess } from '../../model/processes.js'
import { PORTS, renderEndpoint } from '../../model/sidecar-contract.js'
import { renderAdsBootstrap, renderAdsResources } from './ads-config.js'
import { createSidecar, estimateSidecarNeeds } from './launch.js'

/**
 * A control plane of many Envoys on go-control-plane (ads/ beside this file), which speaks ADS: state of the world, or only what
 * has changed (delta). It parses a configuration when that is staged, and sends it to its Envoy when it is committed.
 * @import { Control, ControlOptions, Endpoint, ReloadAction, SidecarOptions, ToolSpec } from '../../model/types.ts'
 */

// The prefix of a line that ads/main.go logs about a refused resource.
const REFUSED = 'refused '
// Each sidecar's share includes the fixed memory of the server: Go, its protobuf types and an empty cache.
const CONTROL_BYTES = { perSidecar: 300e3, perService: 15e3 }
// A machine of two CPUs starts `realMost` Envoys within a quarter of a minute; with more, a rollout would show only their start.
const SIMULATED = { realMost: 400, bytes: 200e3 }

/** @type {ToolSpec} */
export const adsTool = {
  name: 'ads',
  variable: 'ENVOY_ADS',
  image: null,
  versionArgv: ['-version'],
  parseVersion: text => /^go-control-plane v(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: 'built from src/dataplanes/envoy/ads',
  isAccepted: () => true,
}

/** @type {Control[]} */
export const adsControls = [createAdsControl('ads'), createAdsControl('ads-delta', { isDelta: true })]

/**
 * Creates a control of one variant of ADS.
 * @param {string} name of the control
 * @param {{ isDelta?: boolean }} [options] isDelta: only changed resources are sent, instead of the state of the world
 * @returns {Control}
 */
function createAdsControl(name, { isDelta = false } = {}) {
  const apiType = isDelta ? 'DELTA_GRPC' : 'GRPC'
  return {
    name,
    tool: adsTool,

    estimateNeeds: needs => ({
      ...estimateSidecarNeeds(needs),
      inotifyInstances: 0,
      controlBytes: CONTROL_BYTES.perSidecar + CONTROL_BYTES.perService * needs.configuredServices,
    }),

    createProcess: options => {
      const { control } = options
      const stream = locateStreamEndpoint(control)
      const argv = ['-http', renderEndpoint(control), '-grpc', renderEndpoint(stream)]
      return createControlProcess(options, { argv, listens: [control, stream] })
    },

    simulates: { ...SIMULATED, createProcess: options => createSimulatedProcess(options, { isDelta }) },

    setUp: () => [],
    enrol: options => [createStageRequest(options), createCommitRequest(options)],

    createSidecar: options => {
      const bootstrap = renderAdsBootstrap(options.model, { server: locateStreamEndpoint(options.control), apiType })
      const spec = createSidecar(options)
      return { ...spec, files: [{ name: 'envoy.json', content: `${JSON.stringify(bootstrap)}\n` }] }
    },

    stage: options => [createStageRequest(options)],
    commit: options => [createCommitRequest(options)],
    parseRefusals,
  }
}

/**
 * Creates the process that stands for many Envoys: a client of the server for each name.
 * @param {Parameters<NonNullable<Control['simulates']>['createProcess']>[0]} options
 * @param {{ isDelta: boolean }} variant
 */
function createSimulatedProcess({ names, listen, everyMs, ...options }, { isDelta }) {
  const { control, folder } = options
  const server = ['-grpc', renderEndpoint(locateStreamEndpoint(control)), '-node-of', renderEndpoint(control)]
  const mode = [`-delta=${isDelta}`, `-every=${everyMs}ms`]
  return createControlProcess(options, {
    service: 'simulated',
    role: 'application',
    argv: ['-names', `${folder}/names`, '-http', renderEndpoint(listen), ...server, ...mode],
    files: [{ name: 'names', content: `${names.join('\n')}\n` }],
    listens: [listen],
  })
}

/**
 * Parses the refusals in the log of ads/main.go.
 * @param {string} log
 * @returns {string[]} the Envoy, the resource and the reason of each; []: no Envoy refused a resource
 */
function parseRefusals(log) {
  return log.split('\n').flatMap(line => {
    const start = line.indexOf(REFUSED)
    return start < 0 ? [] : [line.slice(start + REFUSED.length)]
  })
}

/**
 * Creates the request by which the server parses a configuration, and keeps it until the commit.
 * @param {SidecarOptions & ControlOptions} options
 * @returns {ReloadAction}
 */
function createStageRequest({ control, model, profile }) {
  const body = JSON.stringify(renderAdsResources(model, profile))
  return { kind: 'request', endpoint: control, method: 'PUT', path: `/nodes/${model.service}`, body }
}

/**
 * Creates the request that sends the staged configuration to its Envoy.
 * @param {SidecarOptions & ControlOptions} options
 * @returns {ReloadAction}
 */
function createCommitRequest({ control, model }) {
  return { kind: 'request', endpoint: control, method: 'POST', path: `/nodes/${model.service}/commit`, body: '' }
}

/**
 * Locates the endpoint at which Envoys open their stream.
 * @param {Endpoint} control
 * @returns {Endpoint}
 */
function locateStreamEndpoint({ address }) {
  return { address, port: PORTS.stream }
}
