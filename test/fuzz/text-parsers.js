import { readdirSync, readFileSync } from 'node:fs'
import { Command } from 'commander'
import { parseClaims } from '../../src/analysis/claims/claims.js'
import { parseRunThreshold, parseThreshold } from '../../src/analysis/thresholds.js'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { parseBalanceExperiment } from '../../src/kinds/balance/experiment.js'
import { parseNode, parseReserve } from '../../src/kinds/search/nodes.js'
import { parseAddress } from '../../src/live/address.js'
import { k6 } from '../../src/loads/k6/index.js'
import { wrk } from '../../src/loads/wrk/index.js'
import { findFault, loadResult, topology as topologySchema } from '../../src/model/schemas.js'
import { addExperimentOptions, addSharedOptions, CLUSTER_OPTIONS } from '../../src/prepare/options.js'
import { parseExperiment } from '../../src/request/experiment.js'
import { parseServices } from '../../src/request/size-experiment.js'
import { parseTopology } from '../../src/services/topology.js'
import { createArm } from '../fakes/fake-records.js'
import { findInfinite } from './harness.js'
import { mutateJson, mutateText, mutateYaml, pick } from './mutate.js'

const dataPlanes = Object.values(await loadPlanes())

/** Parsers of texts: what people write, and what programs print. @import { Parser } from './harness.js' */

const read = (/** @type {string} */ file) => readFileSync(file, 'utf8')
const readAll = (/** @type {string} */ folder) =>
  readdirSync(folder)
    .map(name => read(`${folder}/${name}`))
    .filter(text => text.length < 1200)

/**
 * @param {string} name @param {string[]} samples @param {(text: string) => unknown} parse
 * @param {Parser['findFault']} [check] @returns {Parser}
 */
const ofText = (name, samples, parse, check = findInfinite) => ({
  name,
  make: random => mutateText(pick(samples, random), random),
  parse,
  findFault: check,
})

/** Changes YAML as a text, and by its structure. @type {typeof ofText} */
const ofYaml = (name, samples, ...rest) => ({
  ...ofText(name, samples, ...rest),
  make: random => (random() < 0.5 ? mutateText : mutateYaml)(pick(samples, random), random),
})

const summary = JSON.parse(read('test/fixtures/k6-1.1.0-summary.json'))
const burst = {
  ...summary,
  pieceMs: 500,
  pieces: [
    [50, 1, 2],
    [0, null, null],
  ],
}
const flat = {
  metrics: Object.fromEntries(Object.entries(summary.metrics).map(([name, { values }]) => [name, { name, ...values }])),
}
const log = read('test/fixtures/k6-1.1.0-log.txt')
const versions = ['pipy-1.5.18', 'pipy-2.0.2', 'envoy-1.40.0', 'k6-1.1.0', 'wrk-4.1.0'].map(name =>
  read(`test/fixtures/${name}-version.txt`),
)
const STATS = [
  'cluster.ratings.circuit_breakers.default.rq_open: 0',
  'cluster.ratings.upstream_cx_overflow: 17',
  'cluster.ratings.upstream_rq_pending_overflow: 4294967296',
  'listener.127.0.0.1_15001.downstream_cx_overload_close: 1',
  '',
].join('\n')
const arms = ['none', 'pipy', 'envoy'].map(plane => createArm({ plane }))
/** Options of `bench` by what is written behind them. @type {[string, string[]][]} */
const OPTIONS = [
  ['--cpu', ['1', '0.25,1', 'none']],
  ['--users', ['1', '50,200']],
  ['--rate', ['500', '100,1000']],
  ['--payload', ['1KiB', '64KiB,1.5 KB', '100']],
  ['--services', ['1', '2,500']],
  ['--sidecars', ['1', '200,1600']],
  ['--tls', ['plaintext', 'ecdsa-p256,rsa-2048']],
  ['--protocol', ['http/1.1,http/2']],
  ['--workers', ['1', '2,4']],
  ['--memory', ['64MiB', '32MiB,1GiB']],
  ['--rounds', ['3', '10000']],
  ['--precision', ['3%', '0.5%']],
  ['--seed', ['1', '4294967295']],
  ['--p99', ['20ms', '1.5s']],
  ['--max-minutes', ['60']],
  ['--planes', ['pipy,envoy,none', 'envoy:osm-1.1', 'pipy=./pipy-scripts']],
  ['--image', ['pipy=registry/pipy:1.5', 'k6=x']],
]
/** Others, each by its own function. @type {[string, string[], (text: string) => unknown][]} */
const OTHERS = [
  ['--live', [':8080', '0.0.0.0:9464', '[::1]:0', '8080'], text => parseAddress(text, '--live')],
  ['--node', ['2c4g', '1.5c0.5g', 'pi4'], parseNode],
  ['--reserve', ['0.5c,512m', '1g'], parseReserve],
  [
    '--threshold',
    ['pipy/envoy cpuPerRequest <= 0.6', 'pipy/none throughput@gateway > 0.5'],
    text => parseThreshold(text, arms),
  ],
  [
    '--threshold of compare',
    ['new/old cpuPerRequest <= 1.05', 'old/new rss >= 1e-3'],
    text => parseRunThreshold(text, arms),
  ],
]

const bench = new Command().exitOverride().configureOutput({ writeErr() {}, outputError() {} })
addSharedOptions(addExperimentOptions(bench), ...CLUSTER_OPTIONS)
/** @param {string[]} argv of `bench` */
const parseOptions = argv => bench.parse(argv, { from: 'user' }).opts()

const SERVICES = `services:
  - { name: orders, requestsPerSecond: 300, p99: 20ms }
  - { name: images, requestsPerSecond: 0.5, p99: 1.5s, payload: 64KiB }
`

/** @type {Parser[]} */
export const TEXT_PARSERS = [
  ofYaml('experiment (YAML)', readAll('bench/experiments'), text => parseExperiment(text, 'x.yaml')),
  ofYaml('balance (YAML)', [read('bench/experiments/balance.yaml')], text => parseBalanceExperiment(text, 'x.yaml')),
  ofYaml(
    'topology (YAML)',
    readAll('bench/topologies'),
    text => parseTopology(text, 'x.yaml'),
    value => findFault(topologySchema, value),
  ),
  ofYaml('services (YAML)', [SERVICES], text => parseServices(text, 'x.yaml')),
  ofYaml('claims (YAML)', readAll('bench/claims'), text => parseClaims(text, 'x.yaml')),
  {
    name: 'k6 summary',
    make: random => `${log}\n${mutateJson(pick([summary, burst, flat], random), random)}\n`,
    parse: k6.parseResult,
    findFault: value => (value === null ? null : findFault(loadResult, value)),
  },
  ofText(
    'k6 log',
    [`${log}\n${JSON.stringify(burst)}\n`],
    text => ({ result: k6.parseResult(text), window: k6.parseWindow(text) }),
    ({ result, window }) => (result === null ? null : findFault(loadResult, result)) ?? findInfinite(window),
  ),
  ofText(
    'wrk log',
    [read('test/fixtures/wrk-4.1.0-log.txt')],
    text => ({ result: wrk.parseResult(text), window: wrk.parseWindow(text) }),
    ({ result, window }) => (result === null ? null : findFault(loadResult, result)) ?? findInfinite(window),
  ),
  ofText('Envoy statistics', [STATS], text => dataPlanes.map(plane => plane.parseOverflows?.(text) ?? 0)),
  ofText('versions of programs', versions, text =>
    [...dataPlanes.flatMap(plane => plane.tool ?? []), k6.tool, wrk.tool].map(tool => {
      const version = tool.parseVersion(text)
      return version === null ? null : [version, tool.isAccepted(version)]
    }),
  ),
  ...OPTIONS.map(([name, samples]) => ofText(`option ${name}`, samples, text => parseOptions([name, text]))),
  ...OTHERS.map(([name, samples, parse]) => ofText(`option ${name}`, samples, parse)),
]
