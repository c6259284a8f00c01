import { expect, it } from 'vitest'
import { summarise } from '../../../src/analysis/summarise.js'
import { renderRunWarnings } from '../../../src/report/answer/warnings.js'
import { createManifest } from '../../fakes/fake-manifest.js'
import { createArm, createFakeProcess, createParityRow, createRecord } from '../../fakes/fake-records.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @import { TrialRecord } from '../../../src/model/types.ts' */

/** @param {string[]} keeping planes that keep an answer */
function warningsOf(keeping) {
  const arms = ['pipy', 'envoy'].map(plane => createArm({ id: plane, plane }))
  const gates = [{ gate: 'streams', spoils: [], reason: 'answers came at once' }]
  const records = arms.map(arm => createRecord({ arm, gates: keeping.includes(arm.plane) ? gates : [] }))
  return renderRunWarnings(
    summarise({ manifest: createManifest({ rounds: 1, arms }), records: /** @type {any} */ (records) }),
  )
}

it('name the proxies that keep an answer in chunks, beside those that pass it on', () => {
  expect(warningsOf(['pipy'])).toContain(
    'pipy kept answers until their last chunk, and envoy passed each chunk on: no equal work.',
  )
  expect(warningsOf(['pipy', 'envoy'])).toContain('pipy and envoy kept answers until their last chunk.')
  expect(warningsOf([]).join()).not.toContain('chunk')
})

it('name a proxy whose memory grew by the request in half of its windows, and in two of them at least', () => {
  const arm = createArm({ id: 'pipy', plane: 'pipy' })
  /** @param {number} growing @param {number} rounds @param {number} [grownBytes] of a thousand requests @param {object} [fields] of each record */
  const warn = (growing, rounds, grownBytes = 410_000, fields = {}) => {
    const records = Array.from({ length: rounds }, (_, i) => {
      const { memory } = createFakeProcess({})
      const grown = i < growing ? { memory: { ...memory, grownBytes } } : {}
      const processes = [createFakeProcess(grown), createFakeProcess({ service: 'ratings' })]
      return createRecord({ arm, round: i + 1, processes, ...fields })
    })
    return renderRunWarnings(summarise({ manifest: createManifest({ rounds, arms: [arm] }), records }))
  }
  const grown = 'Memory of pipy grew by 0.4 KiB a request (gateway, 2 of 4 windows): a leak.'
  expect(warn(2, 4)).toContain(grown)
  expect(warn(1, 4).join()).not.toContain('grew')
  expect(warn(1, 1).join()).not.toContain('grew')
  expect(warn(4, 4, 900).join()).not.toContain('grew')
  // A thousand requests over two copies of the link are 500 through each sidecar.
  const { memory } = createFakeProcess({})
  const copies = [
    createFakeProcess({ memory: { ...memory, grownBytes: 410_000 } }),
    createFakeProcess({ service: 'gateway-2', copyOf: 'gateway' }),
  ]
  expect(warn(2, 4, 0, { processes: copies }).join()).toContain('grew by 0.8 KiB a request')
  // Requests queued up.
  const open = createArm({ ...arm, load: { ...arm.load, kind: 'open', ratePerSecond: 10_000 } })
  const load = { ...createRecord({ arm }).load, verified: 1000 }
  expect(warn(4, 4, 410_000, { arm: open, load: { ...load, dropped: 0 } })).not.toEqual([])
  expect(warn(4, 4, 410_000, { arm: open, load: { ...load, dropped: 9000 } }).join()).not.toContain('grew')
})

it('say by how much planes differ at each load, if two measurements of one run exclude each other', () => {
  const of = (/** @type {any} */ load, /** @type {number | null} */ cpuLimitCores, /** @type {number} */ ratio) => ({
    load,
    cpuLimitCores,
    ratio,
    low: ratio,
    high: ratio,
  })
  const loads = [
    { kind: 'interleaved', users: 32, isInterleaved: true },
    { kind: 'closed', users: 200 },
  ]
  const warn = (/** @type {number} */ alone) =>
    renderRunWarnings(
      /** @type {any} */ ({
        ...summarise({ manifest: createManifest({ rounds: 1, arms: [] }), records: [] }),
        carries: [
          { a: 'pipy', b: 'envoy', isContradicted: true, measured: [of(loads[0], null, 0.54), of(loads[1], 1, alone)] },
        ],
      }),
    )
  expect(warn(0.59)).toContain(
    'pipy uses 46 % less than envoy with 32 users, but 41 % less with 200 users at 1 CPU each.',
  )
  expect(warn(1.1)).toContain(
    'pipy uses 46 % less than envoy with 32 users, but 10 % more with 200 users at 1 CPU each.',
  )
})

it('leave out disturbed trials of the applications alone, unless something is compared with them', () => {
  /** @param {'throughput' | 'latency'} use @returns {TrialRecord['gates']} */
  const spoil = use => [{ gate: 'unsteady', spoils: [use], reason: 'the halves differ' }]
  const render = (/** @type {'closed' | 'open'} */ kind) => {
    const load = kind === 'open' ? { kind, ratePerSecond: 10 } : { kind, users: 10 }
    const arms = ['none', 'pipy'].map(plane => createArm({ id: plane, plane, load }))
    const spoiling = spoil(kind === 'open' ? 'latency' : 'throughput')
    const records = arms.map(arm =>
      createRecord({
        arm,
        gates: arm.plane === 'none' ? spoiling : [],
        processes: arm.plane === 'none' ? [] : [createFakeProcess({})],
      }),
    )
    return renderRunWarnings(
      summarise({ manifest: createManifest({ rounds: 1, arms }), records: /** @type {any} */ (records) }),
    ).join()
  }
  expect(render('closed')).not.toContain('none')
  expect(render('open')).toContain('in 1 of 1 trials of none')
})

it('count the proxies as deployed whose work differs if they are many, and name those that carry bytes once', () => {
  const planes = ['envoy:istio', 'envoy:osm-1.1', 'linkerd:deployed', 'ztunnel:istio']
  const render = (/** @type {string[]} */ names) =>
    renderRunWarnings(
      createSummary([{ plane: 'pipy', cpuPerRequest: [30, 30] }], {
        parity: names.flatMap(plane =>
          /** @type {const} */ ([true, undefined]).map(isDeployed =>
            createParityRow({
              name: 'parity-tls',
              plane,
              found: 'x',
              expected: 'y',
              isDeployed,
              ...(plane.startsWith('ztunnel') && { carriesBytes: /** @type {const} */ (true) }),
            }),
          ),
        ),
      }),
    ).filter(line => /deploy|bytes/.test(line))
  expect(render(planes)).toEqual(['As meshes deploy them, work is not equal (4 proxies; ztunnel:istio carries bytes).'])
  expect(render(planes.slice(0, 2))).toEqual([
    'As meshes deploy them, work is not equal (envoy:istio and envoy:osm-1.1).',
  ])
})
