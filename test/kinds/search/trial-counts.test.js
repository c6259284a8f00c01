import { describe, expect, it } from 'vitest'
import { startSearch } from '../../../src/kinds/search/searches.js'
import { listMostTrials, listUsualTrials } from '../../../src/kinds/search/trial-counts.js'
import { createRandom } from '../../../src/lib/random.js'
import { createArm } from '../../fakes/fake-records.js'
import { createFakeSidecar, runSearch } from '../../fakes/fake-search.js'

/** @import { SearchSpec } from '../../../src/model/types.ts' */

const template = createArm({
  id: 'link-pipy',
  load: { kind: 'open', ratePerSecond: 500, windowSeconds: 3.5, payloadBytes: 1024 },
})
const service = (/** @type {string} */ name, /** @type {number} */ ratePerSecond, payloadBytes = 1024) => ({
  ...{ name, ratePerSecond, payloadBytes, p99Ms: 50 },
})
/** @type {Record<'size' | 'knee' | 'memory-floor' | 'services', SearchSpec>} */
const SPECS = {
  size: { kind: 'size', p99Ms: 50, isExtrapolated: false, precision: 0.05, trialsToConfirm: 3 },
  knee: { kind: 'knee', p99Ms: 50, precision: 0.05, startPerSecond: 400 },
  'memory-floor': { kind: 'memory-floor', p99Ms: null, precision: 0.05 },
  services: {
    kind: 'services',
    precision: 0.05,
    trialsToConfirm: 3,
    services: [service('a', 100), service('b', 400), service('c', 400), service('d', 1000), service('e', 50, 4096)],
  },
}

/** Counts the trials of a search of sidecars with random needs. @param {SearchSpec} spec @param {{ spoiled: number, searches: number }} options spoiled: share of trials */
function countTrials(spec, { spoiled, searches }) {
  const random = createRandom(7)
  return Array.from({ length: searches }, () => {
    const bytes = 5e6 + random() * 1e8
    const sidecar = createFakeSidecar({
      ...(spec.kind === 'knee' ? { capacityPerSecond: 200 + random() * 20_000 } : { cores: 0.02 + 0.8 * random() }),
      ...{ bytes, peakBytes: bytes * (1 + random()) },
      disturb: () => (random() < spoiled ? null : undefined),
    })
    const { trials } = runSearch(startSearch({ template, spec, cpus: 2 }), arm => {
      const outcome = sidecar(arm)
      // A sidecar needs more than it uses on average.
      return { ...outcome, coresMost: outcome.coresMost * 0.8 }
    })
    return trials.length
  }).sort((a, b) => a - b)
}

describe('listUsualTrials', () => {
  it.each(
    /** @type {const} */ (['size', 'knee', 'memory-floor', 'services']),
  )('has as many trials as half of the searches for the %s take, to one', kind => {
    const counts = countTrials(SPECS[kind], { spoiled: 0, searches: 200 })
    expect(Math.abs(listUsualTrials(SPECS[kind], [template]).length - counts[100])).toBeLessThanOrEqual(1)
  })

  it('tries services of the payload of an arm: the lowest and the highest rate, and each rate three times', () => {
    const trials = listUsualTrials(SPECS.services, [template])
    expect(trials.map(arm => arm.load.ratePerSecond)).toEqual([
      ...[100, 1000],
      ...[100, 100, 100],
      ...[400, 400, 400],
      ...[1000, 1000, 1000],
    ])
    // 1050 requests, of which a p99 is one.
    expect(trials[0].load.windowSeconds).toBe(10.5)
    expect(trials[1].load.windowSeconds).toBe(3.5)
  })
})

describe('listMostTrials', () => {
  it.each(/** @type {const} */ (['size', 'services']))('is more than a search for the %s ever takes', kind => {
    const most = listMostTrials(SPECS[kind], [template])?.length ?? 0
    for (const spoiled of [0.3, 0.6, 0.9])
      expect(countTrials(SPECS[kind], { spoiled, searches: 30 }).at(-1)).toBeLessThanOrEqual(most)
  })

  it('is null for searches without a bound, and for one that goes on at lower rates', () => {
    expect(listMostTrials(SPECS.knee, [template])).toBeNull()
    expect(
      listMostTrials({ kind: 'size', p99Ms: 50, isExtrapolated: true, precision: 0.05, trialsToConfirm: 3 }, [
        template,
      ]),
    ).toBeNull()
  })
})
