// What the load generators deliver and take beside the same sidecars, their rounds interleaved.
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { median } from 'simple-statistics'
import { computeCpuPerRequestMicros, computeRatePerSecond } from '../../src/judge/record/measures.js'
import { loadGenerators } from '../../src/loads/registry.js'
import { benchAlternately } from './alternating.js'
import { createFinding, getScratch } from './kit.js'

/**
 * @import { Role, TrialRecord } from '../../src/model/types.ts'
 */

const ROUNDS = 6
const SHARE_MOST = 0.2
const PLANES = ['pipy', 'envoy']
/** @type {('sidecar' | 'application' | 'generator')[]} */
const ROLES = ['sidecar', 'application', 'generator']
const COLUMNS = ['generator', 'plane', 'requests/s', ...ROLES.map(role => `${role} µs/req`), 'bound by', 'trials']

/**
 * @param {number} [rounds]
 * @returns {Promise<import('./kit.js').Finding[]>}
 */
export async function compareGenerators(rounds = ROUNDS) {
  const experiment = path.join(getScratch(), 'generator.yaml')
  writeFileSync(
    experiment,
    `name: generator
question: What does the load generator add to the CPU per request of sidecars?
axes: { plane: [pipy, envoy], link: [gateway-ratings], cpuLimitCores: [0.25], users: [50] }
profiles: { standard: { rounds: ${rounds}, hasControl: false } }
`,
  )
  const loads = Object.values(await loadGenerators())
  const runs = await benchAlternately(loads.map(load => ({ experiment, load })))
  const measured = runs.flatMap(({ records }, i) =>
    records.filter(r => r.outcome === 'completed').map(r => ({ ...measure(r), generator: loads[i].name })),
  )
  const listMeasured = (/** @type {string} */ generator, /** @type {string} */ plane) =>
    measured.filter(m => m.generator === generator && m.plane === plane)
  const rows = loads.flatMap(({ name }) =>
    PLANES.map(plane => [name, plane, ...summariseTrials(listMeasured(name, plane))]),
  )
  print([COLUMNS, COLUMNS.map(() => '---'), ...rows])
  return PLANES.map(plane => {
    const shares = listMeasured('wrk', plane).flatMap(({ round, costs }) => {
      const other = listMeasured('k6', plane).find(m => m.round === round)
      return other ? [costs.generator / other.costs.generator] : []
    })
    return createFinding(
      `${plane}: CPU of wrk / of k6 a request, at most 0.2`,
      median(shares),
      shares,
      s => s <= SHARE_MOST,
    )
  })
}

/** @param {TrialRecord} record */
function measure(record) {
  const computeRoleCost = (/** @type {Role} */ role) =>
    Number(
      computeCpuPerRequestMicros(
        record,
        record.processes.filter(p => p.role === role),
      ),
    )
  const costs = {
    sidecar: computeRoleCost('sidecar'),
    application: computeRoleCost('application'),
    generator: computeRoleCost('generator'),
  }
  const { arm, round } = record.trial
  return { plane: arm.plane, round, rate: Number(computeRatePerSecond(record)), boundBy: `${record.boundBy}`, costs }
}

/**
 * The cells of a row: medians, and what bound the trials.
 * @param {ReturnType<typeof measure>[]} trials
 */
function summariseTrials(trials) {
  const computeMedian = (/** @type {(trial: ReturnType<typeof measure>) => number} */ value) =>
    median(trials.map(value))
  return [
    computeMedian(t => t.rate).toFixed(0),
    ...ROLES.map(role => computeMedian(t => t.costs[role]).toFixed(1)),
    [...new Set(trials.map(t => t.boundBy))].join(', '),
    `${trials.length}`,
  ]
}

/** @param {string[][]} rows */
function print(rows) {
  console.log(rows.map(cells => `| ${cells.join(' | ')} |`).join('\n'))
}
