import { renderConfig } from './config.js'
import { createSidecar, listLogOptions } from './launch.js'

/**
 * Pipy takes its scripts from a repository, which another Pipy serves; a commit makes it run them again, with the
 * configuration that is there then. 1.5 is told of a commit at once, over the link by which it reports its status, and
 * goes on as the same process; 2.0 asks every 5 s and starts another process, a second after it has ended the one before
 * (measured with 1.5.18 and 2.0.2).
 * @import { Endpoint, ReloadAction, ReloadOptions, Reloads } from '../../model/types.ts'
 */

const REPOSITORY_PORT = 6070

/** @type {Reloads} */
export const reloads = {
  createControl: options => {
    const { address, port } = endpointOf(options)
    const own = createSidecar(options)
    return {
      ...own,
      role: 'control',
      argv: isOne(options)
        ? [`--admin-port=${address}:${port}`, '--log-level=error']
        : ['--log-level=error', 'repo://pipy/repo', '--args', `--listen=${address}:${port}`],
      files: [],
      scripts: [],
      credentials: [],
      listens: [{ address, port }],
      workers: 1,
      cpuCores: null,
    }
  },

  setUp: options => [
    request(options, 'POST', `/api/v1/repo/${options.model.service}`, '{"version":"1"}'),
    ...Object.entries(options.scriptFiles).map(([name, text]) =>
      request(options, 'POST', `/api/v1/repo-files/${options.model.service}/${name}`, text),
    ),
    request(options, 'PATCH', `/api/v1/repo/${options.model.service}`, '{"version":"1","main":"/main.js"}'),
    commit(options, 0),
  ],

  createSidecar: options => {
    const { address, port } = endpointOf(options)
    const spec = createSidecar(options)
    // Without the link of its status, 1.5 would hear of a commit by its poll of 5 s only, or never.
    const own = isOne(options) ? ['--no-graph', '--no-metrics'] : [`--codebase-dir=${options.folder}/codebase`]
    return {
      ...spec,
      argv: [
        ...['--log-level=error', `--threads=${options.model.workers}`, '--reuse-port', ...own],
        ...listLogOptions(options.model.features),
        `http://${address}:${port}/repo/${options.model.service}/`,
        ...['--args', `${options.folder}/sidecar.json`],
      ],
      scripts: [],
    }
  },

  change: (options, version) => [
    {
      kind: 'move',
      file: `${options.folder}/sidecar.json`,
      content: `${JSON.stringify(renderConfig(options.model), null, 2)}\n`,
    },
    commit(options, version),
  ],
}

/**
 * @param {ReloadOptions} options
 * @param {number} version 0: the scripts themselves; the repository counts on from the version that it was made with
 */
function commit(options, version) {
  return request(options, 'PATCH', `/api/v1/repo/${options.model.service}`, `{"version":"${version + 2}"}`)
}

/**
 * @param {ReloadOptions} options
 * @param {string} method
 * @param {string} path
 * @param {string} body
 * @returns {ReloadAction}
 */
function request(options, method, path, body) {
  return { kind: 'request', endpoint: endpointOf(options), method, path, body }
}

/**
 * @param {ReloadOptions} options
 * @returns {Endpoint}
 */
function endpointOf({ model }) {
  return { address: model.admin.address, port: REPOSITORY_PORT }
}

/** @param {ReloadOptions} options */
function isOne({ tool }) {
  return tool.version.startsWith('1.')
}
