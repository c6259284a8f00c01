import { describe, expect, it } from 'vitest'
import { createPipelineDocument, parsePipeline } from '../../src/model/pipeline.js'
import {
  listCalledPorts,
  listRequestPaths,
  orderEntryPorts,
  pickServedAnswer,
  renderDraft,
  renderUnservedError,
} from '../../src/prepare/draft-pipeline.js'

const FILES = {
  'config.yml': 'listen: 8080\ntls: 8443\ntargets:\n  - 127.0.0.1:9000\nroutes:\n  /api/*: bar\n  /*: foo\n',
  'main.js': "pipy.listen(8001, $=>$.connect('localhost:8001'))\nvar routes = { '/hi/*': 'hi', \"/echo\": 1 }",
}

describe('a look at scripts', () => {
  it('finds the ports of this host that they call, and the paths that they name', () => {
    expect(listCalledPorts(FILES)).toEqual([9000, 8001])
    expect(listRequestPaths(FILES)).toEqual(['/api/', '/hi/', '/echo'])
  })

  it.each([
    ['JSON', '"endpoints": [{ "ip": "127.0.0.1", "port": 9001 }, { "host": "localhost", "port": "9002" }]'],
    ['YAML', 'endpoints:\n  - ip: 127.0.0.1\n    port: 9001\n  - host: localhost\n    port: 9002\n'],
    ['a script', "var targets = [{ ip: '127.0.0.1', port: 9001 }, { host: 'localhost', port: 9002 }]"],
  ])('finds ports that %s has beside their address', (_, text) => {
    expect(listCalledPorts({ file: text })).toEqual([9001, 9002])
    expect(listCalledPorts({ file: "{ host: 'localhost' }, { ip: '10.0.0.1', port: 9003 }" })).toEqual([])
  })

  it.each([
    ['JSON', '{ "listen": { "ip": "127.0.0.1", "port": 8000 }, "targets": ["127.0.0.1:9000"] }'],
    ['YAML', 'listen:\n  ip: 127.0.0.1\n  port: 8000\ntargets:\n  - 127.0.0.1:9000\n'],
    [
      'a list',
      'listeners:\n  - ip: 127.0.0.1\n    port: 8000\n  - ip: 127.0.0.1\n    port: 8002\ntarget: localhost:9000',
    ],
    ['a script', "pipy.listen('127.0.0.1:8000', $=>$.connect('localhost:9000'))"],
  ])('finds none at which %s says to listen', (_, text) => {
    expect(listCalledPorts({ file: text })).toEqual([9000])
  })

  it('takes no weight of a host, and no number above 65535, for a port', () => {
    expect(listCalledPorts({ file: 'weights:\n  localhost: 3\n  127.0.0.1: 1\n' })).toEqual([])
    expect(listCalledPorts({ file: "['localhost:0', 'localhost:65535', 'localhost:65536']" })).toEqual([65535])
    expect(listCalledPorts({ file: "{ host: 'localhost', port : 9001 }" })).toEqual([9001])
  })

  const answered = { port: 8000, method: 'POST', path: '/', status: 404, body: 'not found', reason: null }

  it('takes an answer that is the body that was posted before others, and none with another status', () => {
    const echoed = { ...answered, path: '/b', status: 200, body: 'sidecar-bench looks' }
    const page = { ...answered, method: 'GET', path: '/a', status: 200, body: 'a page' }
    expect(pickServedAnswer([answered, page, echoed])).toMatchObject({ path: '/b', isEchoed: true })
    expect(pickServedAnswer([answered, page])).toMatchObject({ path: '/a', isEchoed: false })
    expect(pickServedAnswer([answered, { ...page, body: '' }])).toBeNull()
  })

  it('says what a request got, and what a pipeline.yaml has to say', () => {
    const options = { folderName: './gateway', ports: [8000] }
    const lost = { ...answered, status: null, reason: 'socket hang up' }
    expect(renderUnservedError({ ...options, answers: [lost, answered], called: [] })).toMatch(
      /POST \/ to port 8000 with the header "host: ratings" was answered with 404, and no application ran.*name the ports that they call/,
    )
    expect(renderUnservedError({ ...options, answers: [lost], called: [8000, 8080] })).toMatch(
      /was not answered \(socket hang up\), and an application served 8080, which they call: name the request/,
    )
  })

  it('says that an answer had no body if it had status 200', () => {
    const empty = { ...answered, method: 'GET', path: '/hi', status: 200, body: '' }
    expect(
      renderUnservedError({ folderName: './gateway', ports: [8000], answers: [answered, empty], called: [] }),
    ).toMatch(
      /its scripts answer no POST with the body that was posted, and no GET with a body: GET \/hi to port 8000 .* was answered with 200/,
    )
  })

  it('says that scripts call only ports at which they listen, and in which forms ports are read', () => {
    const options = { folderName: './gateway', answers: [answered] }
    expect(renderUnservedError({ ...options, ports: [8000, 8001], called: [8001] })).toContain(
      'no application ran, since they listen themselves at every port that they call (8001): name the ports',
    )
    expect(renderUnservedError({ ...options, ports: [8000], called: [] })).toContain(
      'they name no port as 127.0.0.1:PORT, localhost:PORT or { ip: 127.0.0.1, port: PORT }: name the ports',
    )
  })

  it('takes requests to come where the scripts do not call themselves, in the order in which they name ports', () => {
    expect(orderEntryPorts([8001, 8443, 8080], { called: [8001], scriptFiles: FILES })).toEqual([8080, 8443, 8001])
  })

  it.each([
    [
      { listen: { port: 8000 }, upstream: { ports: [80, 81] } },
      'listen: { port: 8000 }\nupstream: { ports: [80, 81] }',
    ],
    [
      { listen: { port: 8000 }, request: { method: 'GET', path: '/hi' } },
      'listen: { port: 8000 }\nrequest: { method: GET, path: "/hi" }',
    ],
  ])('is written as a file that says the same', (fields, text) => {
    const document = createPipelineDocument(fields)
    const draft = renderDraft({ document })
    expect(draft).toContain(text)
    expect(parsePipeline(draft, 'pipeline.yaml')).toEqual(document)
  })
})
