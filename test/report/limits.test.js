import { describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { parseNodeOptions } from '../../src/kinds/search/nodes.js'
import { createSearchResult } from '../../src/kinds/search/step.js'
import { LIMIT_FORMATS, renderLimits, renderNodeFit } from '../../src/report/limits.js'
import { createArm } from '../fakes/fake-records.js'
import { createResult } from '../fakes/fake-summary.js'

/** @import { SizeResult, Summary } from '../../src/model/types.ts' */

const MIB = 2 ** 20
/** @param {{ plane?: string, cores?: number, isConclusive?: boolean, isChecked?: boolean, services?: string[] }} [fields] @returns {SizeResult} */
const sizeOf = ({ plane = 'pipy', cores = 0.3273, isConclusive = true, isChecked = true, services = [] } = {}) => {
  const searchOf = (/** @type {'cpu' | 'memory'} */ looksFor, /** @type {number} */ held) =>
    createSearchResult({
      template: createArm({ plane }),
      looksFor,
      held,
      failed: null,
      steps: [],
      why: '',
      isFound: isConclusive,
    })
  const choice = { plane, variant: null, profile: null }
  return {
    ...{ ...choice, ratePerSecond: 500, p99LimitMs: 20, p99Ms: 4.25, services, line: null },
    ...{
      cpu: searchOf('cpu', cores),
      memory: searchOf('memory', 31.4 * MIB),
      checks: [],
      isChecked,
      extrapolated: null,
    },
  }
}

describe('renderLimits', () => {
  it.each([
    ['yaml', { resources: { requests: { cpu: '328m', memory: '32Mi' }, limits: { cpu: '328m', memory: '32Mi' } } }],
    [
      'helm',
      {
        sidecar: { resources: { requests: { cpu: '328m', memory: '32Mi' }, limits: { cpu: '328m', memory: '32Mi' } } },
      },
    ],
    ['compose', { services: { sidecar: { deploy: { resources: { limits: { cpus: '0.328', memory: '32m' } } } } } }],
  ])('writes %s', (format, expected) => {
    const text = renderLimits([sizeOf()], format)
    expect(parse(text)).toEqual(expected)
    // An anchor is YAML, and no person would write it.
    expect(text).not.toMatch(/[&*]/)
  })

  it.each([
    ['yaml', { resources: { requests: { cpu: '328m', memory: '32Mi' }, limits: { memory: '32Mi' } } }],
    ['helm', { sidecar: { resources: { requests: { cpu: '328m', memory: '32Mi' }, limits: { memory: '32Mi' } } } }],
    [
      'compose',
      {
        services: {
          sidecar: { deploy: { resources: { limits: { memory: '32m' }, reservations: { cpus: '0.328' } } } },
        },
      },
    ],
  ])('writes %s without a CPU limit for a request that was tried beside a neighbour', (format, expected) => {
    const answer = /** @type {any} */ ({ requestCores: 0.3273, state: 'confirmed', met: 3, missed: 0, why: '' })
    const text = renderLimits([{ ...sizeOf(), neighbourCores: 2, answer }], format)
    expect(parse(text)).toEqual(expected)
    expect(text).toContain('500 requests/s beside a neighbour of 2 CPUs, p99 at most 20 ms: confirmed')
  })

  it('reserves in compose the CPU that was tried beside a neighbour, also if no answer names a request', () => {
    const { services } = parse(renderLimits([{ ...sizeOf(), neighbourCores: 2 }], 'compose'))
    expect(services.sidecar.deploy.resources.reservations).toEqual({ cpus: '0.328' })
  })

  it.each(LIMIT_FORMATS)('writes %s as a document a plane, and says which was not proven', format => {
    const text = renderLimits([sizeOf(), sizeOf({ plane: 'envoy', isChecked: false })], format)
    const documents = parseAllDocuments(text)
    expect(documents.map(document => document.errors)).toEqual([[], []])
    expect(text.match(/^# .*$/gm)).toEqual([
      '# pipy, for each sidecar of the link link',
      '#   500 requests/s, p99 4.3 ms; checked',
      '# envoy, for each sidecar of the link link',
      expect.stringMatching(/^# {3}500 requests.s, p99 4.3 ms; NOT proven/),
    ])
  })

  it('writes several services of a plane together, but for Kubernetes, if each is a container of its own', () => {
    const sizes = [sizeOf({ services: ['a', 'b'] }), sizeOf({ services: ['c'], cores: 1 })]
    const [yaml, helm, compose] = LIMIT_FORMATS.map(format =>
      parseAllDocuments(renderLimits(sizes, format)).map(document => document.toJS()),
    )
    expect(yaml.map(({ resources }) => resources.limits.cpu)).toEqual(['328m', '328m', '1000m'])
    expect(helm).toEqual([
      {
        a: { sidecar: yaml[0] },
        b: { sidecar: yaml[1] },
        c: { sidecar: yaml[2] },
      },
    ])
    expect(Object.keys(compose[0].services)).toEqual(['a-sidecar', 'b-sidecar', 'c-sidecar'])
    expect(compose[0].services['c-sidecar'].deploy.resources.limits).toEqual({ cpus: '1', memory: '32m' })
  })

  it.each(LIMIT_FORMATS)('writes, in %s, that there are no limits, beside those that there are', format => {
    const text = renderLimits([sizeOf({ isConclusive: false }), sizeOf({ plane: 'envoy' })], format)
    expect(text).toContain('# pipy: no limits for 500 requests/s: ')
    // A document of comments alone is none.
    expect(parseAllDocuments(text).map(({ errors, contents }) => [errors, contents !== null])).toEqual([[[], true]])
  })

  it.each(LIMIT_FORMATS)('writes, in %s, the state of an answer, how often it was met, and its CPU request', format => {
    const answer = /** @type {SizeResult['answer']} */ ({
      ...{ state: 'estimated', why: '1 of the 3 trials needed met the p99: a neighbour', requestCores: 0.0451 },
      ...{ limits: { cores: 0.3273, bytes: 31.4 * MIB }, need: null, met: 1, missed: 1, notJudged: 2 },
      ...{ p99Ms: 231.3, p99BoundMs: null, trials: ['a', 'b', 'c', 'd'] },
    })
    const text = renderLimits([{ ...sizeOf({ isChecked: false }), p99Ms: 231.3, answer }], format)
    expect(text).toContain(
      '#   500 requests/s, p99 at most 20 ms: estimated: met in 1 of 2 trials, worst p99 231.3 ms; 1 of the 3 trials needed',
    )
    expect(text).toMatch(format === 'compose' ? /reservations:\n +cpus: "0.046"/ : /requests:\n +cpu: 46m/)
  })
})

describe('renderNodeFit', () => {
  const machine = /** @type {Summary['machine']} */ ({ cpuModel: 'A Xeon', architecture: 'x64' })
  const sizes = [sizeOf(), sizeOf({ plane: 'envoy', cores: 1.2, isChecked: false })]

  it('says how often each plane fits, with the arithmetic, and that speed is not converted', () => {
    expect(
      renderNodeFit(
        { results: [createResult({ kind: 'search', searches: [], sizes })], machine },
        parseNodeOptions('pi4', '0.5c,512m'),
      ),
    ).toEqual([
      'node pi4, 4 cores and 4096 MiB; 3.5 cores and 3584 MiB without what is reserved:',
      '  pipy: 10 sidecars fit, by CPU (CPU 3500m / 328m = 10.7; memory 3584 / 32 MiB = 112.0)',
      '  envoy: 2 sidecars fit, by CPU (CPU 3500m / 1200m = 2.9; memory 3584 / 32 MiB = 112.0); some of these limits did NOT pass their check',
      expect.stringMatching(
        /^ {2}Cores are counted, speed is not converted: .* on A Xeon \(x64\), and pi4 has another \(Cortex-A72/,
      ),
    ])
    expect(
      renderNodeFit(
        { results: [createResult({ kind: 'search', searches: [], sizes })], machine },
        parseNodeOptions('2c4g', null),
      )[0],
    ).toContain('--reserve keeps room for them')
  })

  it('counts how often all services fit together', () => {
    const all = [sizeOf({ services: ['a', 'b'] }), sizeOf({ services: ['c'], cores: 1 })]
    // 2 × 328 + 1000 millicores, 3 × 32 MiB.
    expect(
      renderNodeFit(
        { results: [createResult({ kind: 'search', searches: [], sizes: all })], machine },
        parseNodeOptions('2c1g', null),
      )[1],
    ).toBe(
      '  pipy: the sidecars of all services together fit 1 times, by CPU (CPU 2000m / 1656m = 1.2; memory 1024 / 96 MiB = 10.7)',
    )
    const lacking = [...all, sizeOf({ services: ['d'], isConclusive: false })]
    expect(
      renderNodeFit(
        { results: [createResult({ kind: 'search', searches: [], sizes: lacking })], machine },
        parseNodeOptions('2c1g', null),
      )[1],
    ).toBe('  pipy: no limits were found for d')
  })

  it('says nothing if no answer was found', () => {
    expect(
      renderNodeFit(
        {
          results: [createResult({ kind: 'search', searches: [], sizes: [sizeOf({ isConclusive: false })] })],
          machine,
        },
        parseNodeOptions('pi4', null),
      ),
    ).toEqual([])
  })
})
