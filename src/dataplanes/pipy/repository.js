import { createControlProcess } from '../../model/processes.js'
import { isVersionOne, listLogFlags } from './argv.js'
import { isUsingTls, renderConfig } from './config.js'
import { createSidecar } from './launch.js'

/**
 * Pipy's own repository as a control plane: a base codebase holds the scripts, and a codebase derived from it holds each
 * sidecar's configuration. 1.5 learns of a commit at once, over the connection on which a sidecar reports its status,
 * and keeps its process; 2.0 polls every 5 s, and starts another process a second after it has ended the old one
 * (measured with 1.5.18 and 2.0.2).
 * @import { Control, ControlOptions, ReloadAction, SidecarOptions } from '../../model/types.ts'
 */

// The codebase that holds the scripts.
const BASE = 'base'
const CONFIGURATION = 'sidecar.json'
// Version 1 of a codebase has no configuration; configuration 0 is committed as this version.
const FIRST_VERSION = 2

/** @type {Control} */
export const repository = {
  name: 'repo',

  findUnsupported: version =>
    version.startsWith('2.')
      ? `rollouts are measured with Pipy 1.5: ${version} asks for changes every 5 s, and starts another process for each`
      : null,

  // Measured with 1.5.18, one worker: private memory at 0 and 1000 routes, and of the repository with 1600 sidecars. Each
  // worker loads scripts and configuration for itself.
  estimateNeeds: ({ configuredServices, workers }) => ({
    sidecarBytes: workers * (4e6 + 32e3 * configuredServices),
    controlBytes: 120e3 + 3e3 * configuredServices,
    threads: 2 + workers,
    inotifyInstances: 0,
  }),

  createProcess: options => {
    const { address, port } = options.control
    return createControlProcess(options, {
      argv: isVersionOne(options.controlTool.version)
        ? [`--admin-port=${address}:${port}`, '--log-level=error']
        : ['--log-level=error', 'repo://pipy/repo', '--args', `--listen=${address}:${port}`],
    })
  },

  setUp: options => [
    createRequest(options, { method: 'POST', path: `repo/${BASE}`, body: '{"version":"1"}' }),
    ...Object.entries(options.scriptFiles).map(([name, body]) =>
      createRequest(options, { method: 'POST', path: `repo-files/${BASE}/${name}`, body }),
    ),
    createRequest(options, { method: 'PATCH', path: `repo/${BASE}`, body: '{"version":"2","main":"/main.js"}' }),
  ],

  enrol: options => [
    createRequest(options, {
      method: 'POST',
      path: `repo/${options.model.service}`,
      body: `{"version":"1","base":"/${BASE}"}`,
    }),
    createConfigurationRequest(options),
    createCommitRequest(options, 0),
  ],

  createSidecar: options => {
    const { control, folder, model, tool } = options
    const { env, files, ...spec } = createSidecar(options)
    // 1.5 learns of commits over its status connection: without it (--no-status), only by its poll of 5 s, or never.
    const repositoryFlags = isVersionOne(tool.version)
      ? ['--no-graph', '--no-metrics']
      : [`--codebase-dir=${folder}/codebase`]
    return {
      ...spec,
      argv: [
        ...['--log-level=error', `--threads=${model.workers}`, '--reuse-port', ...repositoryFlags],
        ...listLogFlags(model.features),
        `http://${control.address}:${control.port}/repo/${model.service}/`,
      ],
      // The repository has the configuration: only the file with the key-exchange groups is left, which nothing reads without TLS.
      env: isUsingTls(model) ? env : {},
      files: isUsingTls(model) ? files.filter(({ name }) => name !== CONFIGURATION) : [],
      scripts: [],
    }
  },

  stage: options => [createConfigurationRequest(options)],
  commit: (options, version) => [createCommitRequest(options, version)],
}

/**
 * Creates the request that uploads a sidecar's configuration to its codebase.
 * @param {SidecarOptions & ControlOptions} options
 */
function createConfigurationRequest(options) {
  return createRequest(options, {
    method: 'POST',
    path: `repo-files/${options.model.service}/${CONFIGURATION}`,
    body: JSON.stringify(renderConfig(options.model)),
  })
}

/**
 * Creates the request that publishes the files of a sidecar's codebase, as version FIRST_VERSION for configuration 0, and so on.
 * @param {SidecarOptions & ControlOptions} options
 * @param {number} version of the configuration, from 0
 */
function createCommitRequest(options, version) {
  return createRequest(options, {
    method: 'PATCH',
    path: `repo/${options.model.service}`,
    body: `{"version":"${version + FIRST_VERSION}"}`,
  })
}

/**
 * Creates a request to the API of a Pipy repository.
 * @param {ControlOptions} options
 * @param {{ method: string, path: string, body: string }} request path: below /api/v1/
 * @returns {ReloadAction}
 */
function createRequest({ control }, { method, path, body }) {
  return { kind: 'request', endpoint: control, method, path: `/api/v1/${path}`, body }
}
