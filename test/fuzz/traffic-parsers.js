import { readdirSync, readFileSync } from 'node:fs'
import { parseYaml } from '../../src/lib/yaml.js'
import { parsePipeline } from '../../src/model/pipeline.js'
import { trafficSchema } from '../../src/model/traffic.js'
import { parseLogLine } from '../../src/traffic/access-log.js'
import { parseHar } from '../../src/traffic/har.js'
import { createMixCounter } from '../../src/traffic/mix.js'
import { findInfinite } from './harness.js'
import { mutateJson, mutateText, mutateYaml, pick } from './mutate.js'

/** Readers of what people bring along: pipelines, traffic, logs. @import { Parser } from './harness.js' */

const LOGS = readdirSync('test/fixtures/access-logs').map(name =>
  readFileSync(`test/fixtures/access-logs/${name}`, 'utf8').split('\n').slice(0, 6).join('\n'),
)
const PIPELINES = readdirSync('test/pipelines', { recursive: true, encoding: 'utf8' })
  .filter(name => name.endsWith('pipeline.yaml'))
  .map(name => readFileSync(`test/pipelines/${name}`, 'utf8'))
const TRAFFIC = `name: shop
requestsPerSecond: { mean: 40, peak: 120 }
kinds:
  - { method: GET, path: /product, weight: 60, response: 14KiB, serviceTime: exp:30ms }
  - { method: POST, path: /cart, weight: 40, request: 400B, requestHeaders: 400B, response: 1KiB }
`
const entry = {
  startedDateTime: '2026-11-26T08:00:00.000Z',
  request: { method: 'GET', url: 'https://shop.example/product/17?x=1', bodySize: 0, headersSize: 400 },
  response: { bodySize: 14336, content: { size: 14336 } },
  timings: { wait: 30 },
}
const HAR = { log: { entries: [entry, { ...entry, request: { ...entry.request, method: 'POST', bodySize: 400 } }] } }

/** @param {(import('../../src/traffic/access-log.js').LoggedRequest | null)[]} requests */
function sumUp(requests) {
  const mix = createMixCounter()
  for (const request of requests) if (request) mix.add(request)
  return mix.summarise('fuzz')
}

/** @type {Parser[]} */
export const TRAFFIC_PARSERS = [
  {
    name: 'pipeline (YAML)',
    make: random => (random() < 0.5 ? mutateText : mutateYaml)(pick(PIPELINES, random), random),
    parse: text => parsePipeline(text, 'pipeline.yaml'),
    findFault: findInfinite,
  },
  {
    name: 'traffic (YAML)',
    make: random => (random() < 0.5 ? mutateText : mutateYaml)(TRAFFIC, random),
    parse: text => parseYaml({ text, file: 'shop.yaml', schema: trafficSchema }),
    findFault: findInfinite,
  },
  {
    name: 'access log',
    make: random => mutateText(pick(LOGS, random), random),
    parse: text => sumUp(text.split('\n').map(parseLogLine)),
    findFault: findInfinite,
  },
  {
    name: 'HAR',
    make: random => mutateJson(HAR, random),
    parse: text => sumUp(parseHar(text)),
    findFault: findInfinite,
  },
]
