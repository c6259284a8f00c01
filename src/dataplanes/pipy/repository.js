import { renderConfig } from './config.js'
import { createSidecar } from './launch.js'

/**
 * Pipy's own repository as a control plane of many sidecars: a base codebase holds the scripts, and a codebase derived from
 * it holds each sidecar's configuration. A commit is told at once over the link by which a sidecar of 1.5 reports its
 * status.
 * @import { Control, ControlOptions, ReloadAction, SidecarOptions } from '../../model/types.ts'
 */

const BASE = 'base'
const CONFIGURATION = 'sidecar.json'
// The repository numbers its versions itself; one is made with the first.
const FIRST_VERSION = 2

/** @type {Control} */
export const repository = {
  name: 'repository',

  findUnsupported: version =>
    !version.startsWith('2.')
      ? null
      : `rollouts are measured with Pipy 1.5: ${version} asks for changes every 5 s, and starts another process for each`,

  // Measured with 1.5.18, one worker: private memory at 0 and 1000 routes, and of the repository with 1600 sidecars. Each
  // worker loads scripts and configuration for itself.
  needsOf: ({ configuredServices, workers }) => ({
    sidecarBytes: workers * (4e6 + 32e3 * configuredServices),
    controlBytes: 120e3 + 3e3 * configuredServices,
    threads: 2 + workers,
  }),

  createProcess: ({ control: { address, port }, folder, tool }) => ({
    service: 'mesh',
    role: 'control',
    program: tool.path,
    argv: [`--admin-port=${address}:${port}`, '--log-level=error'],
    env: {},
    folder,
    files: [],
    scripts: [],
    credentials: [],
    listens: [{ address, port }],
    workers: 1,
    cpuCores: null,
    memoryLimitBytes: null,
    cpuSet: null,
    admin: null,
    image: tool.image ?? null,
  }),

  setUp: options => [
    request(options, 'POST', `repo/${BASE}`, '{"version":"1"}'),
    ...Object.entries(options.scriptFiles).map(([name, text]) =>
      request(options, 'POST', `repo-files/${BASE}/${name}`, text),
    ),
    request(options, 'PATCH', `repo/${BASE}`, '{"version":"2","main":"/main.js"}'),
  ],

  enrol: options => [
    request(options, 'POST', `repo/${options.model.service}`, `{"version":"1","base":"/${BASE}"}`),
    writeConfiguration(options),
    commit(options, 0),
  ],

  createSidecar: options => {
    const { control, model } = options
    const spec = createSidecar(options)
    return {
      ...spec,
      argv: [
        ...['--log-level=error', `--threads=${model.workers}`, '--reuse-port', '--no-graph', '--no-metrics'],
        `http://${control.address}:${control.port}/repo/${model.service}/`,
      ],
      // Without TLS there is no group of it to set, and hundreds of sidecars need no folders.
      ...{ env: {}, files: [], scripts: [] },
    }
  },

  stage: options => [writeConfiguration(options)],
  commit: (options, version) => [commit(options, version)],
}

/** @param {SidecarOptions & ControlOptions} options */
function writeConfiguration(options) {
  const content = JSON.stringify(renderConfig(options.model))
  return request(options, 'POST', `repo-files/${options.model.service}/${CONFIGURATION}`, content)
}

/** @param {SidecarOptions & ControlOptions} options @param {number} version */
function commit(options, version) {
  return request(options, 'PATCH', `repo/${options.model.service}`, `{"version":"${version + FIRST_VERSION}"}`)
}

/**
 * @param {ControlOptions} options
 * @param {string} method
 * @param {string} path of the API
 * @param {string} body
 * @returns {ReloadAction}
 */
function request({ control }, method, path, body) {
  return { kind: 'request', endpoint: control, method, path: `/api/v1/${path}`, body }
}
