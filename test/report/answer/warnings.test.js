import { expect, it } from 'vitest'
import { summarise } from '../../../src/analysis/summarise.js'
import { listWarnings } from '../../../src/report/answer/warnings.js'
import { createManifest } from '../../fakes/fake-manifest.js'
import { createArm, createRecord } from '../../fakes/fake-records.js'

/** @param {string[]} keeping planes that keep an answer */
function warningsOf(keeping) {
  const arms = ['pipy', 'envoy'].map(plane => createArm({ id: plane, plane }))
  const gates = [{ gate: 'streams', spoils: [], reason: 'answers came at once' }]
  const records = arms.map(arm => createRecord({ arm, gates: keeping.includes(arm.plane) ? gates : [] }))
  return listWarnings(
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
