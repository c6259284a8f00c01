import { describe, expect, it } from 'vitest'
import { fileControl } from '../../src/dataplanes/envoy/file-control.js'
import { createSidecar as createPipy } from '../../src/dataplanes/pipy/launch.js'
import { repository } from '../../src/dataplanes/pipy/repository.js'

/** @import { ReloadAction, SidecarModel } from '../../src/model/types.ts' */

/** @type {SidecarModel} */
const model = {
  ...{ service: 'client-7', identity: 'spiffe://sidecar-bench/ns/bench/sa/client', workers: 1 },
  ...{ admin: { address: '127.1.1.7', port: 15000 }, retries: 1, features: {} },
  timeouts: { connectSeconds: 5, requestSeconds: 15, idleSeconds: 60 },
  tls: { suite: 'TLS_AES_128_GCM_SHA256', group: 'X25519' },
  trust: { caPath: '/c/ca', certificatePath: '/c/client', keyPath: '/c/key', combinedPath: '/c/both' },
  inbound: null,
  outbound: {
    ...{ address: '127.1.1.7', port: 15001 },
    routes: [{ host: 'version-0.test', pathPrefix: '/', headers: {}, split: [{ cluster: 'server', weight: 1 }] }],
  },
  clusters: [],
}
const control = { address: '127.1.1.1', port: 6070 }
const options = {
  ...{ model, folder: '/raw/t/client-7', scripts: '/s', profile: null, cpuCores: null, control },
  tool: { name: 'tool', path: '/bin/tool', version: '1.5.18', sha256: '', source: '' },
  scriptFiles: { 'main.js': 'main()', 'lib/a.js': 'a()' },
}
const request = (/** @type {string} */ method, /** @type {string} */ path, /** @type {string} */ body) => ({
  ...{ kind: 'request', endpoint: control, method, path: `/api/v1/${path}`, body },
})

describe("Pipy's repository", () => {
  it('is another Pipy, of 1.5', () => {
    expect(repository.createProcess?.(options)).toMatchObject({
      ...{ role: 'control', program: '/bin/tool', argv: ['--admin-port=127.1.1.1:6070', '--log-level=error'] },
      listens: [control],
    })
    expect(repository.findUnsupported('1.5.18')).toBeNull()
    expect(repository.findUnsupported('2.0.2')).toMatch('rollouts are measured with Pipy 1.5')
  })

  it('holds the scripts once, and of each sidecar a codebase derived from them with its configuration', () => {
    expect(repository.setUp(options)).toEqual([
      request('POST', 'repo/base', '{"version":"1"}'),
      request('POST', 'repo-files/base/main.js', 'main()'),
      request('POST', 'repo-files/base/lib/a.js', 'a()'),
      request('PATCH', 'repo/base', '{"version":"2","main":"/main.js"}'),
    ])
    expect(repository.enrol(options)).toEqual([
      request('POST', 'repo/client-7', '{"version":"1","base":"/base"}'),
      request('POST', 'repo-files/client-7/sidecar.json', JSON.stringify(model)),
      request('PATCH', 'repo/client-7', '{"version":"2"}'),
    ])
  })

  it('is where a sidecar runs from, without a configuration or scripts of this machine', () => {
    const { argv, ...spec } = repository.createSidecar(options)
    const { argv: _, ...own } = createPipy(options)
    expect(spec).toEqual({ ...own, env: {}, files: [], scripts: [] })
    expect(argv).toEqual([
      ...['--log-level=error', '--threads=1', '--reuse-port', '--no-graph', '--no-metrics'],
      'http://127.1.1.1:6070/repo/client-7/',
    ])
  })

  it('takes a change first, and puts it into effect by a commit in the next version', () => {
    const changed = { ...options, model: { ...model, retries: /** @type {const} */ (0) } }
    expect(repository.stage(changed)).toEqual([
      request('POST', 'repo-files/client-7/sidecar.json', JSON.stringify(changed.model)),
    ])
    expect(repository.commit(changed, 1)).toEqual([request('PATCH', 'repo/client-7', '{"version":"3"}')])
  })
})

describe("Envoy's files", () => {
  it('need nothing to run, and have each sidecar watch a folder of its own', () => {
    expect(fileControl.createProcess).toBeNull()
    expect([...fileControl.setUp(options), ...fileControl.enrol(options), ...fileControl.stage(options)]).toEqual([])
    const { files } = fileControl.createSidecar(options)
    expect(files.map(({ name }) => name)).toEqual(['envoy.json', 'routes/outbound.json'])
    expect(files[0].content).toContain('"path": "/raw/t/client-7/routes/outbound.json"')
  })

  it('put a change into effect by a file that is moved there', () => {
    const [action, ...others] = /** @type {ReloadAction[]} */ (fileControl.commit(options, 1))
    expect(others).toEqual([])
    expect(action).toMatchObject({ kind: 'move', file: '/raw/t/client-7/routes/outbound.json' })
    expect('content' in action && action.content).toContain('version-0.test')
  })
})
