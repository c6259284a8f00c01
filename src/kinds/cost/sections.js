import { listSidecars, sumValues } from '../../judge/record/measures.js'
import { groupBy } from '../../lib/group-by.js'
import { summariseValues } from '../../lib/stats.js'
import { renderArmName } from '../../model/arms.js'
import { findGenerator } from '../../model/tools.js'
import { answerCost } from './answer.js'

/**
 * Sections of interleaved planes: the cost of a request. Pure.
 * @import { Sections } from '../sections.js'
 */
/** @import { Arm, Manifest, ResultOf, Summary, TrialRecord } from '../../model/types.ts' */

/** @type {Sections<ResultOf<'cost'>>} */
export const costSections = {
  kind: 'cost',
  heading: () => 'Cost of a request, interleaved',
  summarise: summariseInterleaved,
  answer: answerCost,
  findings: (result, { tools }) => [`${renderRatioHeading(result, tools)}.`, ...renderConnections(result)],
}

/**
 * Summarises what only interleaved trials have: the pinned CPUs, and the connections of sidecars.
 * @param {{ manifest: Manifest, arms: Arm[], records: TrialRecord[] }} run
 * @returns {Pick<ResultOf<'cost'>, 'cpus' | 'connections'>} cpus: their numbers; null: nothing is pinned;
 *   connections: of each arm with sidecars, the median of its trials; null: no trial counted them all
 */
function summariseInterleaved({ manifest: { placements }, arms, records }) {
  const placement = placements[arms[0].id] ?? null
  return {
    cpus: placement && { generator: placement.generator.length, arms: placement.sidecar.length },
    connections: arms
      .filter(arm => arm.hasSidecars)
      .map(({ id }) => ({
        armId: id,
        count: summariseValues(
          records.flatMap(r =>
            r.trial.arm.id === id ? (sumValues(listSidecars(r), p => p.connections ?? null) ?? []) : [],
          ),
        ).median,
      })),
  }
}

/**
 * Renders the conditions for which the ratios hold: the load of the first arm, its generator, and their CPUs.
 * @param {ResultOf<'cost'>} result
 * @param {Summary['tools']} tools
 * @returns {string}
 */
function renderRatioHeading({ arms, cpus }, tools) {
  const [{ load }] = arms
  const loadWords =
    load.kind === 'open'
      ? `requests at a rate${load.sliceMs ? `, in slices of ${load.sliceMs / 1000} s` : ''}`
      : `${load.users} users in slices of ${load.sliceMs} ms`
  const renderCpuCount = (/** @type {number} */ count) => (count === 1 ? 'one CPU' : `${count} CPUs`)
  const placementWords = cpus
    ? `on ${renderCpuCount(cpus.generator)}, all proxies on ${cpus.arms === 1 ? 'another' : `${cpus.arms} others`}`
    : 'and all proxies unpinned'
  return `Interleaved, without a CPU limit: ${loadWords}; ${findGenerator({ tools })} ${placementWords}`
}

/**
 * Renders the numbers of connections, since a request costs more with more of them.
 * @param {ResultOf<'cost'>} result
 * @returns {string[]} one sentence; []: none were counted
 */
function renderConnections({ arms, connections: armConnections }) {
  const connections = armConnections.flatMap(({ armId, count }) => {
    const arm = arms.find(({ id }) => id === armId)
    return arm && arm.repeatOf === null && count !== null ? [{ name: renderArmName(arm), count }] : []
  })
  const planes = [...groupBy(connections, ({ name }) => name)].map(([name, rows]) => {
    const counts = rows.map(({ count }) => count)
    const [least, most] = [Math.min(...counts), Math.max(...counts)]
    return `${name} ${least === most ? least : `${least} to ${most}`}`
  })
  return planes.length > 0 ? [`Connections that the sidecars held at the end of the window: ${planes.join(', ')}.`] : []
}
