import { describe, expect, it } from 'vitest'
import {
  assertPipelineRenderable,
  assertPipelineVersion,
  createPipelineDocument,
  parsePipeline,
  renderPipeline,
} from '../../src/model/pipeline.js'
import { findForeignCodec, listTlsFindings } from '../../src/model/pipeline-findings.js'
import { createPipelineSidecar } from '../../src/model/pipeline-process.js'
import { echoesPayload, findPipelinePort, hasFixedPorts, hasUpstreamCalls } from '../../src/model/pipeline-traffic.js'
import { fakeTool } from '../fakes/fake-bench.js'
import { createCluster, createInbound, createModel } from '../fakes/fake-models.js'

/** @param {Parameters<typeof createPipelineDocument>[0]} document @param {Record<string, string>} [scriptFiles] */
const pipelineOf = (document, scriptFiles = { 'main.js': "pipy.listen(8000, $=>$.connect('localhost:8080'))" }) => ({
  document: createPipelineDocument(document),
  file: 'pipeline.yaml',
  scripts: '/scripts',
  scriptFiles,
  program: null,
})
const TEMPLATED = {
  'main.js': {
    8000: "'{{listen.address}}:{{listen.port}}'",
    'localhost:8080': '{{upstream.address}}:{{upstream.port}}',
  },
}

describe('parsePipeline', () => {
  it('reads ports, files and a request, and fills in what is left out', () => {
    const text =
      'listen: { port: 8000 }\nupstream: { ports: [8080] }\nrequest: { method: GET, path: /hi, headers: { X-a: 1, Host: h } }\n'
    expect(parsePipeline(text, 'pipeline.yaml')).toMatchObject({
      scripts: '.',
      listen: { port: 8000, scheme: 'http' },
      upstream: { ports: [8080], scheme: 'http' },
      request: { method: 'GET', path: '/hi', headers: { 'x-a': '1', host: 'h' } },
      answer: { status: 200 },
    })
  })

  it.each([
    ['lisen: { port: 1 }', 'pipeline.yaml:1: lisen: unknown name "lisen"; did you mean "listen"?'],
    ['\nlisten: { port: 70000 }', 'pipeline.yaml:2: listen.port: a port is at most 65535'],
    ['listen: { scheme: tls }', 'pipeline.yaml:1: listen.scheme: unknown value "tls" (one of: http, https)'],
    ['request: { path: hi }', 'pipeline.yaml:1: request.path: a path begins with /'],
    ['request: { method: get }', 'a method is written in capitals'],
    ['files: { ../../evil.txt: text }', 'a file is written below the folder of the process'],
    ['files: { a/../../evil.txt: text }', 'give a relative path without ..'],
    ['files: { /etc/evil.txt: text }', 'give a relative path without ..'],
  ])('refuses %j', (text, message) => {
    expect(() => parsePipeline(text, 'pipeline.yaml')).toThrow(message)
  })
})

describe('assertRenderable', () => {
  it.each([
    [pipelineOf({}), 'listen: the program is not told where to listen'],
    [pipelineOf({ replace: { 'main.jss': { a: 'b' } } }), 'replace.main.jss: no such file; did you mean "main.js"?'],
    [pipelineOf({ replace: { 'main.js': { 9999: 'b' } } }), 'replace.main.js: it has no "9999"'],
    [pipelineOf({ files: { 'a.json': { template: 'b.json' } } }), 'files.a.json: no template b.json'],
    [
      pipelineOf({ environment: { LISTEN: '{{listen.prot}}' } }),
      'unknown variable {{listen.prot}}; did you mean "listen.port"?',
    ],
  ])('says what is wrong %#', (pipeline, message) => {
    expect(() => assertPipelineRenderable(pipeline)).toThrow(message)
  })

  it('takes a port that is fixed, and one that a template has', () => {
    expect(() => assertPipelineRenderable(pipelineOf({ listen: { port: 8000 } }))).not.toThrow()
    expect(() => assertPipelineRenderable(pipelineOf({ replace: TEMPLATED }))).not.toThrow()
  })
})

describe('a pipeline', () => {
  it('needs a network namespace if its scripts fix a port', () => {
    expect(hasFixedPorts(pipelineOf({ listen: { port: 8000 } }))).toBe(true)
    expect(hasFixedPorts(pipelineOf({ upstream: { ports: [80] }, environment: { A: '{{listen.port}}' } }))).toBe(true)
    expect(hasFixedPorts(pipelineOf({ replace: TEMPLATED }))).toBe(false)
  })

  it('gives back what was posted if it calls the application, and was asked nothing else', () => {
    expect(hasUpstreamCalls(pipelineOf({ listen: { port: 8000 } }))).toBe(false)
    expect(echoesPayload(pipelineOf({ listen: { port: 8000 } }))).toBe(false)
    expect(echoesPayload(pipelineOf({ listen: { port: 8000 }, upstream: { ports: [80] } }))).toBe(true)
    expect(echoesPayload(pipelineOf({ replace: TEMPLATED, request: { path: '/hi' } }))).toBe(true)
    expect(echoesPayload(pipelineOf({ replace: TEMPLATED, request: { method: 'GET' } }))).toBe(false)
    expect(echoesPayload(pipelineOf({ replace: TEMPLATED, answer: { status: 401 } }))).toBe(false)
  })
})

describe('renderPipeline', () => {
  const model = createModel({ inbound: createInbound(), clusters: [createCluster()] })
  const listener = /** @type {NonNullable<typeof model.inbound>} */ (model.inbound)
  const [{ endpoints }] = model.clusters

  it('fills in files, arguments and the environment, and leaves other files as they are', () => {
    const scriptFiles = {
      'main.js': 'listen 8000 localhost:8080',
      'a.in': 'to {{upstream.url}} {{tls.key}}',
      'b.txt': '{{b}}',
    }
    const rendered = renderPipeline(
      pipelineOf(
        {
          replace: TEMPLATED,
          files: { 'a.conf': { template: 'a.in' }, 'c.json': '{"port":{{listen.port}}}' },
          arguments: ['main.js', '--workers', '{{workers}}', 'a.conf'],
          environment: { LISTEN: '{{ listen.port }}' },
          workers: 3,
        },
        scriptFiles,
      ),
      { model, folder: '/run' },
    )
    const files = Object.fromEntries(rendered.files.map(({ name, content }) => [name, content]))
    const upstream = `${endpoints[0].address}:${endpoints[0].port}`
    expect(files['main.js']).toBe(`listen '${listener.address}:${listener.port}' ${upstream}`)
    expect(files['a.conf']).toBe(`to http://${upstream} ${model.trust.keyPath}`)
    expect(files['c.json']).toBe(`{"port":${listener.port}}`)
    expect(files['b.txt']).toBe('{{b}}')
    expect(rendered.argv).toEqual(['/run/main.js', '--workers', '3', '/run/a.conf'])
    expect(rendered.env).toEqual({ LISTEN: `${listener.port}` })
  })

  it('names both sides by their schemes', () => {
    const document = {
      listen: { scheme: 'https' },
      upstream: { scheme: 'https' },
      arguments: ['{{listen.url}}', '{{upstream.url}}'],
    }
    const { argv } = renderPipeline(pipelineOf(/** @type {any} */ (document)), { model, folder: '/run' })
    expect(argv.map(url => url.slice(0, 8))).toEqual(['https://', 'https://'])
  })

  it('writes a replacement as it stands, and copies files that are no text', () => {
    const { files, argv } = renderPipeline(
      {
        ...pipelineOf(
          { replace: { 'main.js': { HERE: "$' $$ $&" } }, arguments: ['ca.der'] },
          { 'main.js': 'a HERE b' },
        ),
        binaryFiles: { 'ca.der': '\xff\x00' },
      },
      { model, folder: '/run' },
    )
    expect(files).toEqual([
      { name: 'main.js', content: "a $' $$ $& b" },
      { name: 'ca.der', content: '\xff\x00', encoding: 'latin1' },
    ])
    expect(argv).toEqual(['/run/ca.der'])
  })

  it('becomes a process that listens at the port that the scripts fix, at all addresses', () => {
    const options = { model, folder: '/run', tool: fakeTool, scripts: '/scripts', profile: null, cpuLimitCores: 0.5 }
    const fixed = pipelineOf({ listen: { port: 8000 }, arguments: ['-c', 'main.js'] })
    expect(createPipelineSidecar({ ...options, pipeline: fixed })).toMatchObject({
      argv: ['-c', '/run/main.js'],
      listens: [{ address: '0.0.0.0', port: 8000 }],
      cpuLimitCores: 0.5,
      workers: null,
    })
    const free = pipelineOf({ replace: TEMPLATED })
    expect(findPipelinePort(free)).toBe(listener.port)
    expect(createPipelineSidecar({ ...options, pipeline: free }).listens).toEqual([
      { address: listener.address, port: listener.port },
    ])
  })
})

describe('assertPipelineVersion', () => {
  const tool = { name: 'pipy', version: '1.5.18', path: '/bin/pipy' }

  it('refuses a program of another version than the scripts need', () => {
    expect(() => assertPipelineVersion(pipelineOf({ version: 2 }), tool)).toThrow(
      'pipeline.yaml: version: its scripts need pipy 2, and /bin/pipy is 1.5.18: name another program, such as PIPY=/path/to/pipy',
    )
    for (const version of ['1', '1.5', '1.5.18', undefined]) assertPipelineVersion(pipelineOf({ version }), tool)
    expect(() => assertPipelineVersion(pipelineOf({ version: '1.50' }), tool)).toThrow('need pipy 1.50')
  })
})

describe('findForeignCodec', () => {
  const scriptFiles = { 'main.js': '$.decodeMQTT().encodeMQTT()', 'http.js': '$.decodeHTTPRequest()' }

  it('names the codec of another protocol that is left in, and none that is replaced', () => {
    const codec = { name: 'main.js', filter: 'decodeMQTT', protocol: 'MQTT' }
    expect(findForeignCodec(pipelineOf({}, scriptFiles))).toEqual(codec)
    const half = pipelineOf({ replace: { 'main.js': { '.decodeMQTT()': '' } } }, scriptFiles)
    expect(findForeignCodec(half)).toEqual({ ...codec, filter: 'encodeMQTT' })
    const replace = { 'main.js': { '.decodeMQTT()': '', '.encodeMQTT()': '' } }
    expect(findForeignCodec(pipelineOf({ replace }, scriptFiles))).toBeNull()
  })
})

describe('listTlsFindings', () => {
  const parsing = {
    'main.js': `acceptTLS({ certificate: () => ({
      cert: new crypto.Certificate(tls.crt), key: new crypto.PrivateKey(tls.key) }) })`,
  }
  const once = { 'main.js': 'var key = new crypto.PrivateKey(k); acceptTLS({ certificate: { cert, key } })' }
  const https = /** @type {const} */ ({ scheme: 'https' })

  it('notes that any certificate is accepted if no authority is named, and a key that is parsed each time', () => {
    const pipeline = pipelineOf({ listen: { port: 1, ...https } }, parsing)
    expect(listTlsFindings({ pipeline, keyType: 'RSA 4096' })).toEqual([
      'pipeline.yaml: it accepts any certificate of the client: it was told no authority ({{tls.ca}}), and accepted that of the kit',
      'pipeline.yaml: main.js parses its RSA 4096 key for each connection: many new connections cost it more than requests',
    ])
  })

  it('notes nothing about a pipeline in plaintext, or one that has an authority and keeps its key', () => {
    expect(listTlsFindings({ pipeline: pipelineOf({}, parsing) })).toEqual([])
    const environment = { CA: '{{ tls.ca }}' }
    expect(listTlsFindings({ pipeline: pipelineOf({ upstream: https, environment }, once) })).toEqual([])
  })
})
