// Whether cap / CPU per request is the capacity, where sidecars bind and so show both.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { median } from 'simple-statistics'
import { rateAtCapPerSecond, ratePerSecond } from '../../src/judge/measures.js'
import { wrk } from '../../src/loads/wrk/index.js'
import { finding, scratch } from './kit.js'
import { benchInTurns } from './turns.js'

/** @import { TrialRecord } from '../../src/model/types.ts' */

const CAPS = [0.1, 0.25, 0.5]
// On two CPUs no sidecar of two binds at it.
const UNBOUND_CAP = 1
const OFF_MOST = 0.05

/**
 * @param {number} [rounds]
 * @returns {Promise<import('./kit.js').Finding[]>} of each plane and cap, by the CPU per request of the trial that bound,
 *   which shows that caps and counts agree; and by that of the cap that did not, as an estimate has it
 */
export async function checkEstimate(rounds = 3) {
  const experiment = path.join(scratch, 'estimate.yaml')
  writeFileSync(
    experiment,
    `name: estimate
question: Is the cap over the CPU per request the capacity?
axes: { plane: [pipy, envoy], link: [gateway-ratings], capCores: [${[...CAPS, UNBOUND_CAP]}], users: [200] }
profiles: { standard: { rounds: ${rounds}, hasControl: false } }
`,
  )
  const [{ records }] = await benchInTurns([{ experiment, load: wrk }])
  const of = (/** @type {string} */ plane, /** @type {number} */ cap) =>
    records.filter(
      ({ trial: { arm }, outcome }) => outcome === 'completed' && arm.plane === plane && arm.capCores === cap,
    )
  return ['pipy', 'envoy'].flatMap(plane => {
    const unbound = of(plane, UNBOUND_CAP)
    return CAPS.flatMap(cap => {
      const bound = of(plane, cap).filter(r => r.boundBy === 'sidecar')
      const others = bound.flatMap(record => {
        const other = unbound.find(r => r.trial.round === record.trial.round && r.boundBy !== 'sidecar')
        return other ? [ratio(other, record, cap / UNBOUND_CAP)] : []
      })
      const own = bound.map(record => ratio(record, record))
      return [
        hold(`${plane}, ${cap} cores, estimate of the same trial / capacity, 0.95 to 1.05`, own),
        hold(`${plane}, ${cap} cores, estimate by an unbound trial at ${UNBOUND_CAP} / capacity, 0.95 to 1.05`, others),
      ]
    })
  })
}

/**
 * @param {TrialRecord} estimate
 * @param {TrialRecord} measured
 * @param {number} [scale] from the cap of the one to that of the other
 */
function ratio(estimate, measured, scale = 1) {
  return (scale * Number(rateAtCapPerSecond(estimate))) / Number(ratePerSecond(measured))
}

/**
 * @param {string} promise
 * @param {number[]} ratios
 */
function hold(promise, ratios) {
  const value = ratios.length > 0 ? median(ratios) : Number.NaN
  return finding(promise, value, ratios, r => Math.abs(r - 1) <= OFF_MOST)
}
