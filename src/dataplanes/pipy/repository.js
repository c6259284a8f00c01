import { createControlProcess } from '../../model/processes.js'
import { isOne, listLogOptions } from './argv.js'
import { isUsingTls, renderConfig } from './config.js'
import { createSidecar } from './launch.js'

/**
 * Pipy's own repository as a control plane: a base codebase holds the scripts, and a codebase derived from it holds each
 * sidecar's configuration. 1.5 hears of a commit at once, over the link by which a sidecar reports its status, and goes
 * on as the same process; 2.0 asks every 5 s and starts another process, a second after it has ended the one before
 * (measured with 1.5.18 and 2.0.2).
 * @import { Control, ControlOptions, ReloadAction, SidecarModel, SidecarOptions } from '../../model/types.ts'
 */

const BASE = 'base'
const CONFIGURATION = 'sidecar.json'
// A codebase is made with version 1, which has no configuration; configuration 0 is committed as this version.
const FIRST_VERSION = 2

/** @type {Control} */
export const repository = {
  name: 'repo',

  findUnsupported: version =>
    !version.startsWith('2.')
      ? null
      : `rollouts are measured with Pipy 1.5: ${version} asks for changes every 5 s, and starts another process for each`,

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
      argv: isOne(options.controlTool.version)
        ? [`--admin-port=${address}:${port}`, '--log-level=error']
        : ['--log-level=error', 'repo://pipy/repo', '--args', `--listen=${address}:${port}`],
    })
  },

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
    const { control, folder, model, tool } = options
    const { env, files, ...spec } = createSidecar(options)
    // 1.5 hears of commits over the link of its status: without it (--no-status), only by its poll of 5 s, or never.
    const repositoryOptions = isOne(tool.version)
      ? ['--no-graph', '--no-metrics']
      : [`--codebase-dir=${folder}/codebase`]
    return {
      ...spec,
      argv: [
        ...['--log-level=error', `--threads=${model.workers}`, '--reuse-port', ...repositoryOptions],
        ...listLogOptions(model.features),
        `http://${control.address}:${control.port}/repo/${model.service}/`,
      ],
      // The repository has the configuration: only the file with the key-exchange groups is left, which nothing reads without TLS.
      env: isUsingTls(model) ? env : {},
      files: isUsingTls(model) ? files.filter(({ name }) => name !== CONFIGURATION) : [],
      scripts: [],
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

/** Publishes the files of a sidecar's codebase. @param {SidecarOptions & ControlOptions} options @param {number} version of the configuration, from 0 */
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
