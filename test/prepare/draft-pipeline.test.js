import { describe, expect, it } from 'vitest'
import { createPipelineDocument, parsePipeline } from '../../src/model/pipeline.js'
import { listCalledPorts, listPaths, orderEntries, renderDraft } from '../../src/prepare/draft-pipeline.js'

const FILES = {
  'config.yml': 'listen: 8080\ntls: 8443\ntargets:\n  - 127.0.0.1:9000\nroutes:\n  /api/*: bar\n  /*: foo\n',
  'main.js': "pipy.listen(8001, $=>$.connect('localhost:8001'))\nvar routes = { '/hi/*': 'hi', \"/echo\": 1 }",
}

describe('a look at scripts', () => {
  it('finds the ports of this host that they call, and the paths that they name', () => {
    expect(listCalledPorts(FILES)).toEqual([9000, 8001])
    expect(listPaths(FILES)).toEqual(['/api/', '/hi/', '/echo'])
  })

  it('takes requests to come where the scripts do not call themselves, in the order in which they name ports', () => {
    expect(orderEntries([8001, 8443, 8080], { called: [8001], scriptFiles: FILES })).toEqual([8080, 8443, 8001])
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
  ])('is written as a file that says the same', (asked, text) => {
    const document = createPipelineDocument(asked)
    const draft = renderDraft({ document })
    expect(draft).toContain(text)
    expect(parsePipeline(draft, 'pipeline.yaml')).toEqual(document)
  })
})
