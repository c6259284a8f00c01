import { describe, expect, it } from 'vitest'
import { renderBootstrap } from '../../src/dataplanes/envoy/config.js'
import { createSidecar as createEnvoy } from '../../src/dataplanes/envoy/launch.js'
import { reloads as envoy } from '../../src/dataplanes/envoy/reload.js'
import { createSidecar as createHaproxy } from '../../src/dataplanes/haproxy/launch.js'
import { reloads as haproxy } from '../../src/dataplanes/haproxy/reload.js'
import { createSidecar as createNginx } from '../../src/dataplanes/nginx/launch.js'
import { reloads as nginx } from '../../src/dataplanes/nginx/reload.js'
import { createSidecar as createPipy } from '../../src/dataplanes/pipy/launch.js'
import { reloads as pipy } from '../../src/dataplanes/pipy/reload.js'

/** @import { ReloadOptions, SidecarModel } from '../../src/model/types.ts' */

/** @type {SidecarModel} */
const model = {
  ...{ service: 'client', identity: 'spiffe://sidecar-bench/ns/bench/sa/client', workers: 2 },
  ...{ admin: { address: '127.1.1.1', port: 15000 }, retries: 1 },
  timeouts: { connectSeconds: 5, requestSeconds: 15, idleSeconds: 60 },
  tls: { suite: 'TLS_AES_128_GCM_SHA256', group: 'X25519' },
  trust: {
    ...{ caPath: '/c/ca.pem', certificatePath: '/c/client.pem', keyPath: '/c/client-key.pem' },
    combinedPath: '/c/client-combined.pem',
  },
  inbound: null,
  outbound: {
    ...{ address: '127.1.1.1', port: 15001 },
    routes: [{ host: 'server', pathPrefix: '/', headers: {}, split: [{ cluster: 'server', weight: 1 }] }],
  },
  features: {},
  clusters: [],
}
/** @param {string} version @param {Partial<ReloadOptions>} [fields] @returns {ReloadOptions} */
const optionsOf = (version, fields = {}) => ({
  ...{ model, folder: '/f', scripts: '/s', profile: null, cpuCores: 0.5 },
  tool: { name: 'pipy', path: '/bin/tool', version, sha256: '', source: '' },
  scriptFiles: { 'main.js': 'main()', 'lib/a.js': 'a()' },
  ...fields,
})
const changed = { ...model, outbound: null }

describe('Envoy', () => {
  const options = optionsOf('1.40.0')

  it('needs nobody to hand out its configuration', () => {
    expect(envoy.createControl).toBeNull()
    expect(envoy.setUp(options)).toEqual([])
  })

  it('starts as ever, but takes its outbound routes from a folder that it watches', () => {
    const { files, ...spec } = envoy.createSidecar(options)
    const { files: _, ...own } = createEnvoy(options)
    expect(spec).toEqual(own)
    const [bootstrap, routes] = files
    expect(files.map(f => f.name)).toEqual(['envoy.json', 'routes/outbound.json'])
    expect(JSON.parse(bootstrap.content)).toEqual(
      JSON.parse(JSON.stringify(renderBootstrap(model, 'lean', '/f/routes'))),
    )
    expect(bootstrap.content).toContain('"path": "/f/routes/outbound.json"')
    expect(JSON.parse(routes.content).version_info).toBe('0')
  })

  it('takes the same routes from the file as it had in its bootstrap', () => {
    const written = /** @type {any} */ (renderBootstrap(model, 'lean').static_resources.listeners[0])
    const { route_config: own } = written.filter_chains[0].filters[0].typed_config
    const [, routes] = envoy.createSidecar(options).files
    const { '@type': type, ...resource } = JSON.parse(routes.content).resources[0]
    expect(resource).toEqual(own)
    expect(type).toBe('type.googleapis.com/envoy.config.route.v3.RouteConfiguration')
  })

  it('is changed by a file that is moved there, with the routes of the model and another version', () => {
    const [action, ...others] = envoy.change({ ...options, model: changed }, 3)
    expect(others).toEqual([])
    expect(action).toMatchObject({ kind: 'move', file: '/f/routes/outbound.json' })
    const { version_info, resources } = JSON.parse('content' in action ? action.content : '')
    expect(version_info).toBe('3')
    expect(resources[0].virtual_hosts.map((/** @type {{ name: string }} */ h) => h.name)).toEqual(['any'])
  })
})

describe('HAProxy', () => {
  const options = optionsOf('2.6.12')

  it('starts as ever, under a master that starts its workers anew', () => {
    const { argv, ...spec } = haproxy.createSidecar(options)
    const { argv: own, ...rest } = createHaproxy(options)
    expect(spec).toEqual(rest)
    expect(argv).toEqual(['-W', ...own, '-p', '/f/haproxy.pid'])
  })

  it('is changed by its files, with the routes of the model, and a signal to the master', () => {
    const actions = haproxy.change({ ...options, model: changed }, 1)
    expect(actions.slice(0, -1)).toEqual(
      createHaproxy({ ...options, model: changed }).files.flatMap(({ name, content }) =>
        name === 'openssl.cnf' ? [] : [{ kind: 'move', file: `/f/${name}`, content }],
      ),
    )
    expect(actions.at(-1)).toEqual({ kind: 'signal', pidFile: '/f/haproxy.pid', signal: 'SIGUSR2' })
  })
})

describe('nginx', () => {
  const options = optionsOf('1.22.1')

  it('starts as ever', () => expect(nginx.createSidecar(options)).toEqual(createNginx(options)))

  it('is changed by its file, with the routes of the model, and a signal to the master', () => {
    const [{ content }] = createNginx({ ...options, model: changed }).files
    expect(nginx.change({ ...options, model: changed }, 1)).toEqual([
      { kind: 'move', file: '/f/nginx.conf', content },
      { kind: 'signal', pidFile: '/f/nginx.pid', signal: 'SIGHUP' },
    ])
  })
})

describe('Pipy', () => {
  const one = optionsOf('1.5.18')
  const two = optionsOf('2.0.2')
  const endpoint = { address: '127.1.1.1', port: 6070 }
  const createControl = /** @type {NonNullable<typeof pipy.createControl>} */ (pipy.createControl)

  it('has its scripts handed out by another Pipy, beside it, without a cap', () => {
    expect(createControl(one)).toMatchObject({
      ...{ service: 'client', role: 'control', program: '/bin/tool', listens: [endpoint], workers: 1, cpuCores: null },
      ...{ files: [], scripts: [], credentials: [], argv: ['--admin-port=127.1.1.1:6070', '--log-level=error'] },
    })
    expect(createControl(two).argv).toEqual([
      ...['--log-level=error', 'repo://pipy/repo', '--args', '--listen=127.1.1.1:6070'],
    ])
  })

  it('has its scripts put into the repository and committed, before it starts', () => {
    const request = (/** @type {string} */ method, /** @type {string} */ path, /** @type {string} */ body) => ({
      ...{ kind: 'request', endpoint, method, path, body },
    })
    expect(pipy.setUp(one)).toEqual([
      request('POST', '/api/v1/repo/client', '{"version":"1"}'),
      request('POST', '/api/v1/repo-files/client/main.js', 'main()'),
      request('POST', '/api/v1/repo-files/client/lib/a.js', 'a()'),
      request('PATCH', '/api/v1/repo/client', '{"version":"1","main":"/main.js"}'),
      request('PATCH', '/api/v1/repo/client', '{"version":"2"}'),
    ])
  })

  it('runs from the repository, with its status linked in 1.5 and a folder of its own in 2.0', () => {
    const url = 'http://127.1.1.1:6070/repo/client/'
    const ends = [url, '--args', '/f/sidecar.json']
    const begins = ['--log-level=error', '--threads=2', '--reuse-port']
    expect(pipy.createSidecar(one).argv).toEqual([...begins, '--no-graph', '--no-metrics', ...ends])
    expect(pipy.createSidecar(two).argv).toEqual([...begins, '--codebase-dir=/f/codebase', ...ends])
  })

  it('is otherwise started as ever, and reads no scripts of this machine', () => {
    const { argv: _, scripts, ...spec } = pipy.createSidecar(one)
    const { argv: __, scripts: ___, ...own } = createPipy(one)
    expect(spec).toEqual(own)
    expect(scripts).toEqual([])
  })

  it('is changed by its configuration, and then a commit in the next version', () => {
    expect(pipy.change({ ...one, model: changed }, 1)).toEqual([
      { kind: 'move', file: '/f/sidecar.json', content: `${JSON.stringify(changed, null, 2)}\n` },
      { kind: 'request', endpoint, method: 'PATCH', path: '/api/v1/repo/client', body: '{"version":"3"}' },
    ])
    const versions = [1, 2, 3].map(n => pipy.change(one, n)[1]).map(a => ('body' in a ? a.body : ''))
    expect(new Set([...versions, '{"version":"2"}']).size).toBe(4)
  })
})
