import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { apiControl as caddy } from '../../src/dataplanes/caddy/api-control.js'
import { createSidecar as createCaddy } from '../../src/dataplanes/caddy/launch.js'
import { adsControls } from '../../src/dataplanes/envoy/ads-control.js'
import { renderBootstrap } from '../../src/dataplanes/envoy/config.js'
import { fileControl as envoy } from '../../src/dataplanes/envoy/file-control.js'
import { createSidecar as createEnvoy } from '../../src/dataplanes/envoy/launch.js'
import { fileControl as haproxy } from '../../src/dataplanes/haproxy/file-control.js'
import { createSidecar as createHaproxy } from '../../src/dataplanes/haproxy/launch.js'
import { fileControl as nginx } from '../../src/dataplanes/nginx/file-control.js'
import { createSidecar as createNginx } from '../../src/dataplanes/nginx/launch.js'
import { createSidecar as createPipy } from '../../src/dataplanes/pipy/launch.js'
import { repository } from '../../src/dataplanes/pipy/repository.js'
import { createCluster, createInbound, createModel, createRoute } from '../fakes/fake-models.js'

const model = createModel({
  ...{ service: 'client-7', workers: 1, admin: { address: '127.1.1.7', port: 15000 } },
  outbound: {
    ...{ address: '127.1.1.7', port: 15001 },
    routes: [createRoute({ host: 'version-0.test', split: [{ cluster: 'server', weight: 1 }] })],
  },
})
const secured = createCluster({ name: 'server', mtls: { serverName: 'server', acceptedIdentities: null } })
const control = { address: '127.1.1.1', port: 6070 }
const toolOf = (/** @type {string} */ version) => ({ name: 'tool', path: '/bin/tool', version, sha256: '', source: '' })
const options = {
  ...{ model, folder: '/raw/t/client-7', scripts: '/s', profile: null, cpuLimitCores: null, control },
  tool: toolOf('1.5.18'),
  controlTool: { ...toolOf('1.5.18'), path: '/bin/control' },
  scriptFiles: { 'main.js': 'main()', 'lib/a.js': 'a()' },
}
/** Of Pipy. */
const two = { ...options, tool: toolOf('2.0.2'), controlTool: toolOf('2.0.2') }
const changed = { ...options, model: { ...model, retries: /** @type {const} */ (0), outbound: null } }
const request = (/** @type {string} */ method, /** @type {string} */ path, /** @type {string} */ body) => ({
  ...{ kind: 'request', endpoint: control, method, path: `/api/v1/${path}`, body },
})

describe("Pipy's repository", () => {
  it('is another Pipy, of 1.5 if there are many sidecars', () => {
    expect(repository.createProcess?.(options)).toMatchObject({
      ...{ role: 'control', program: '/bin/control', argv: ['--admin-port=127.1.1.1:6070', '--log-level=error'] },
      listens: [control],
    })
    expect(repository.findUnsupported?.('1.5.18')).toBeNull()
    expect(repository.findUnsupported?.('2.0.2')).toMatch('rollouts are measured with Pipy 1.5')
    expect(repository.createProcess?.(two)?.argv).toEqual([
      ...['--log-level=error', 'repo://pipy/repo', '--args', '--listen=127.1.1.1:6070'],
    ])
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
    const { argv: _, ...plain } = createPipy(options)
    expect(spec).toEqual({ ...plain, env: {}, files: [], scripts: [] })
    expect(argv).toEqual([
      ...['--log-level=error', '--threads=1', '--reuse-port', '--no-graph', '--no-metrics'],
      'http://127.1.1.1:6070/repo/client-7/',
    ])
  })

  it('asks for commits from a folder of its own with 2.0, and keeps no log for a port', () => {
    const features = { 'access-log': { fields: [] } }
    const { argv } = repository.createSidecar({ ...two, model: { ...model, features } })
    expect(argv.slice(3)).toEqual([
      ...['--codebase-dir=/raw/t/client-7/codebase', '--log-history-limit=0', 'http://127.1.1.1:6070/repo/client-7/'],
    ])
  })

  it.each([
    ['as a client', { clusters: [secured] }],
    ['as a server', { inbound: createInbound() }],
  ])('leaves a sidecar that speaks TLS %s the group of it, and nothing else', (_, spoken) => {
    const speaking = { ...options, model: { ...model, ...spoken } }
    const plain = createPipy(speaking)
    const { env, files } = repository.createSidecar(speaking)
    expect(env).toEqual(plain.env)
    expect(files).toEqual(plain.files.filter(({ name }) => name === 'openssl.cnf'))
    expect(files).toHaveLength(1)
  })

  it('takes a change first, and puts it into effect by a commit in the next version', () => {
    expect(repository.stage(changed)).toEqual([
      request('POST', 'repo-files/client-7/sidecar.json', JSON.stringify(changed.model)),
    ])
    expect(repository.commit(changed, 1)).toEqual([request('PATCH', 'repo/client-7', '{"version":"3"}')])
  })
})

describe('files', () => {
  it.each([
    ['Envoy', envoy],
    ['HAProxy', haproxy],
    ['nginx', nginx],
  ])('of %s need nothing to run, and nothing before a sidecar starts', (_, { createProcess, setUp, enrol }) => {
    expect(createProcess).toBeNull()
    expect([...setUp(options), ...enrol(options)]).toEqual([])
  })

  it('of Envoy are in a folder that it watches, and hold the routes that its bootstrap had', () => {
    const { files, ...spec } = envoy.createSidecar(options)
    const { files: _, ...plain } = createEnvoy(options)
    expect(spec).toEqual(plain)
    expect(files.map(({ name }) => name)).toEqual(['envoy.json', 'routes/outbound.json'])
    const [bootstrap, routes] = files.map(({ content }) => JSON.parse(content))
    const outbound = {
      resource_api_version: 'V3',
      path_config_source: {
        path: '/raw/t/client-7/routes/outbound.json',
        watched_directory: { path: '/raw/t/client-7/routes' },
      },
    }
    expect(bootstrap).toEqual(JSON.parse(JSON.stringify(renderBootstrap(model, 'lean', { outbound }))))
    const written = /** @type {any} */ (renderBootstrap(model, 'lean').static_resources.listeners[0])
    const type = 'type.googleapis.com/envoy.config.route.v3.RouteConfiguration'
    const { route_config: routesOfBootstrap } = written.filter_chains[0].filters[0].typed_config
    expect(routes).toEqual({ version_info: '0', resources: [{ '@type': type, ...routesOfBootstrap }] })
  })

  it('of Envoy hold its certificate if that changes, for both sides of its connections, and not the routes', () => {
    const rotated = {
      ...{ ...options, isRotated: true },
      model: { ...model, inbound: createInbound({ mtls: 'permissive' }), clusters: [secured] },
    }
    const { files } = envoy.createSidecar(rotated)
    const [bootstrap, secret] = files.map(({ content }) => content)
    expect(bootstrap.match(/"tls_certificate_sds_secret_configs"/g)).toHaveLength(2)
    expect(bootstrap).toContain('/raw/t/client-7/routes/certificate.json')
    expect(bootstrap).not.toContain('"rds"')
    expect(bootstrap).not.toContain('"tls_certificates"')
    expect(JSON.parse(secret).resources).toMatchObject([
      {
        name: 'own',
        tls_certificate: {
          certificate_chain: { filename: '/c/gateway.pem' },
          private_key: { filename: '/c/gateway-key.pem' },
        },
      },
    ])
    const trust = { ...model.trust, certificatePath: '/c/next' }
    expect(envoy.commit({ ...rotated, model: { ...rotated.model, trust } }, 1)).toMatchObject([
      { file: '/raw/t/client-7/routes/certificate.json', content: expect.stringContaining('/c/next') },
    ])
  })

  it('of Envoy are changed by one that is moved there, with the routes of the model and another version', () => {
    expect(envoy.stage(changed)).toEqual([])
    const [action, ...others] = envoy.commit(changed, 3)
    expect(others).toEqual([])
    expect(action).toMatchObject({ kind: 'move', file: '/raw/t/client-7/routes/outbound.json' })
    const { version_info, resources } = JSON.parse('content' in action ? action.content : '')
    expect(version_info).toBe('3')
    expect(resources[0].virtual_hosts.map((/** @type {{ name: string }} */ host) => host.name)).toEqual(['any'])
  })

  it('of HAProxy are staged by moving them, and committed by a signal to a master that starts its workers anew', () => {
    const { argv, ...spec } = haproxy.createSidecar(options)
    const { argv: plainArgv, ...rest } = createHaproxy(options)
    expect(spec).toEqual(rest)
    expect(argv).toEqual(['-W', ...plainArgv, '-p', '/raw/t/client-7/haproxy.pid'])
    expect(haproxy.stage(changed)).toEqual(
      createHaproxy(changed)
        .files.filter(({ name }) => name !== 'openssl.cnf')
        .map(({ name, content }) => ({ kind: 'move', file: `/raw/t/client-7/${name}`, content })),
    )
    expect(haproxy.commit(changed, 1)).toEqual([
      { kind: 'signal', pidFile: '/raw/t/client-7/haproxy.pid', signal: 'SIGUSR2' },
    ])
  })

  it('of nginx are staged by moving one, and committed by a signal to its master', () => {
    const [{ content }] = createNginx(changed).files
    expect(nginx.createSidecar(options)).toEqual(createNginx(options))
    expect(nginx.stage(changed)).toEqual([{ kind: 'move', file: '/raw/t/client-7/nginx.conf', content }])
    expect(nginx.commit(changed, 1)).toEqual([
      { kind: 'signal', pidFile: '/raw/t/client-7/nginx.pid', signal: 'SIGHUP' },
    ])
  })
})

describe("Caddy's administration port", () => {
  it('is open only if it is the control, and takes a whole configuration', () => {
    const { files, ...spec } = caddy.createSidecar(options)
    const { files: plainFiles, ...rest } = createCaddy(options)
    expect(spec).toEqual(rest)
    const adminOf = (/** @type {{ content: string }[]} */ [{ content }]) => JSON.parse(content).admin
    expect(adminOf(plainFiles)).toMatchObject({ disabled: true })
    expect(adminOf(files)).toMatchObject({ listen: '127.1.1.7:15000', origins: ['127.1.1.7'] })
    expect(caddy.stage(changed)).toEqual([])
    const [{ content }] = caddy.createSidecar(changed).files
    expect(caddy.commit(changed, 1)).toEqual([
      { kind: 'request', endpoint: model.admin, method: 'POST', path: '/load', body: content },
    ])
  })
})

describe("Envoy's ADS", () => {
  const [ads, delta] = adsControls

  it('is a server beside the address of its configurations', () => {
    expect(ads.createProcess?.(options)).toMatchObject({
      ...{ role: 'control', program: '/bin/control', argv: ['-http', '127.1.1.1:6070', '-grpc', '127.1.1.1:6071'] },
      listens: [control, { ...control, port: 6071 }],
    })
  })

  it('is all that the bootstrap of a sidecar names, which asks it for the state of the world or for changes', () => {
    for (const [{ createSidecar }, apiType] of /** @type {const} */ ([
      [ads, 'GRPC'],
      [delta, 'DELTA_GRPC'],
    ])) {
      const { files } = createSidecar(options)
      expect(files.map(({ name }) => name)).toEqual(['envoy.json'])
      const { dynamic_resources, static_resources } = JSON.parse(files[0].content)
      expect(dynamic_resources.ads_config).toMatchObject({ api_type: apiType, set_node_on_first_message_only: true })
      expect(static_resources.listeners).toBeUndefined()
      expect(JSON.stringify(static_resources.clusters)).toContain('{"address":"127.1.1.1","port_value":6071}')
    }
  })

  it('takes a configuration before its sidecar starts, and a change first staged, then committed', () => {
    const [staged, committed, ...others] = /** @type {any[]} */ (ads.enrol(options))
    expect(others).toEqual([])
    expect(staged).toMatchObject({ endpoint: control, method: 'PUT', path: '/nodes/client-7' })
    expect(committed).toMatchObject({ endpoint: control, method: 'POST', path: '/nodes/client-7/commit', body: '' })
    const { clusters, listeners, routes } = JSON.parse(staged.body)
    expect(clusters).toEqual([])
    expect(JSON.stringify(listeners)).not.toContain('version-0.test')
    expect(JSON.stringify(routes)).toContain('version-0.test')
    expect([ads.stage(options), ads.commit(options, 1)]).toEqual([[staged], [committed]])
  })

  it('has clients of the same program for sidecars that are not here, which name themselves as a real one does', () => {
    const listen = { address: '127.1.1.2', port: 15001 }
    const spec = ads.simulates?.createProcess({ ...options, names: ['client-8', 'client-9'], listen, everyMs: 45 })
    expect(spec).toMatchObject({
      ...{ role: 'application', program: '/bin/control', listens: [listen] },
      files: [{ name: 'names', content: 'client-8\nclient-9\n' }],
    })
    expect(spec?.argv).toEqual([
      ...['-names', '/raw/t/client-7/names', '-http', '127.1.1.2:15001', '-grpc', '127.1.1.1:6071'],
      ...['-node-of', '127.1.1.1:6070', '-delta=false', '-every=45ms'],
    ])
  })

  it('reads in the log of the server what a sidecar refused', () => {
    const log = readFileSync('test/fixtures/envoy-1.40.0-refused.txt', 'utf8')
    const refused = expect.stringMatching(/^client-1: .*Listener: "Proto constraint validation failed/)
    expect(ads.parseRefusals?.(log)).toEqual([refused, refused])
    expect(ads.parseRefusals?.('')).toEqual([])
  })
})
