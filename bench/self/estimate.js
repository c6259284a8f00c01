// Whether the CPU per request of a sidecar that is not bound gives the capacity at the caps where it is.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { median } from 'simple-statistics'
import { rateAtCapPerSecond, ratePerSecond } from '../../src/judge/measures.js'
import { wrk } from '../../src/loads/wrk/index.js'
import { benchAlternately } from './alternating.js'
import { finding, scratch } from './kit.js'

/** @import { TrialRecord } from '../../src/model/types.ts' */

const CAPS = [0.1, 0.25, 0.5]
// On two CPUs no sidecar of two binds at it.
const UNBOUND_CAP = 1
const OFF_MOST = 0.05

/**
 * @param {number} [rounds]
 * @returns {Promise<import('./kit.js').Finding[]>} of each plane and cap that binds
 */
export async function checkEstimate(rounds = 3) {
  const experiment = path.join(scratch, 'estimate.yaml')
  writeFileSync(
    experiment,
    `name: estimate
question: Is the cap over the CPU per request the capacity?
axes: { plane: [pipy, envoy], link: [gateway-ratings], capCores: [${CAPS}], users: [200] }
profiles: { standard: { rounds: ${rounds}, hasControl: false } }
`,
  )
  const [{ records }] = await benchAlternately([{ experiment, caps: [...CAPS, UNBOUND_CAP], load: wrk }])
  return holdEstimates(records)
}

/**
 * The estimate by the CPU per request of the cap that does not bind, over the capacity that was measured. That of the
 * bound trial itself would only be the share of its cap that it used: rate and counts cancel.
 * @param {TrialRecord[]} records
 */
export function holdEstimates(records) {
  const of = (/** @type {string} */ plane, /** @type {number} */ cap) =>
    records.filter(
      ({ trial: { arm }, outcome }) => outcome === 'completed' && arm.plane === plane && arm.capCores === cap,
    )
  return ['pipy', 'envoy'].flatMap(plane => {
    const unbound = of(plane, UNBOUND_CAP)
    return CAPS.map(cap => {
      const bound = of(plane, cap).filter(r => r.boundBy === 'sidecar')
      const ratios = bound.flatMap(record => {
        const other = unbound.find(r => r.trial.round === record.trial.round && r.boundBy !== 'sidecar')
        const scale = cap / UNBOUND_CAP
        return other ? [(scale * Number(rateAtCapPerSecond(other))) / Number(ratePerSecond(record))] : []
      })
      const promise = `${plane}, ${cap} cores, estimate by an unbound trial at ${UNBOUND_CAP} / capacity, 0.95 to 1.05`
      const value = ratios.length > 0 ? median(ratios) : Number.NaN
      return finding(promise, value, ratios, r => Math.abs(r - 1) <= OFF_MOST)
    })
  })
}
