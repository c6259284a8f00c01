import { listSidecars, sumValues } from '../../judge/record/measures.js'
import { groupBy } from '../../lib/group-by.js'
import { summariseValues } from '../../lib/stats.js'
import { renderRange } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { findGenerator } from '../../model/tools.js'
import { answerCost } from './answer.js'

/**
 * Sections of interleaved planes: the cost of a request. Pure.
 * @import { Sections } from '../sections.js'
 */
/** @import { Arm, Manifest, ResultOf, Summary, SummaryArm, TrialRecord } from '../../model/types.ts' */

/** @type {Sections<ResultOf<'cost'>>} */
export const costSections = {
  kind: 'cost',
  renderHeading: () => 'Cost of a request, interleaved',
  summarise: summariseCostFields,
  createAnswer: answerCost,
  renderFindings: (result, { tools }) => [`${renderRatioHeading(result, tools)}.`, ...renderConnections(result)],
}

/**
 * Computes the fields that only results of interleaved trials have: the pinned CPUs, and the connections of sidecars.
 * @param {{ manifest: Manifest, arms: Arm[], records: TrialRecord[] }} run
 * @returns {Pick<ResultOf<'cost'>, 'cpus' | 'connections'>} cpus: their numbers; null: nothing is pinned;
 *   connections: of each arm with sidecars, the median of its trials; null: no trial counted them all
 */
function summariseCostFields({ manifest: { placements }, arms, records }) {
  const placement = placements[arms[0].id] ?? null
  return {
    cpus: placement && { generator: placement.generator.length, arms: placement.sidecar.length },
    connections: arms
      .filter(arm => arm.hasSidecars)
      .map(({ id }) => {
        const recordsOfArm = records.filter(({ trial }) => trial.arm.id === id)
        const counts = recordsOfArm.map(record => sumValues(listSidecars(record), p => p.connections ?? null))
        return { armId: id, count: summariseValues(counts).median }
      }),
  }
}

/**
 * Renders the conditions for which the ratios hold: the load of the first arm, its generator, and their CPUs.
 * @param {ResultOf<'cost'>} result
 * @param {Summary['tools']} tools
 * @returns {string} a sentence without its full stop
 */
function renderRatioHeading({ arms: [{ load }], cpus }, tools) {
  const closedLoopWords = `${load.users} users in slices of ${load.sliceMs} ms`
  const loadWords = load.kind === 'open' ? renderRateWords(load) : closedLoopWords
  const placementWords = cpus ? renderPlacementWords(cpus) : 'and all proxies unpinned'
  return `Interleaved, without a CPU limit: ${loadWords}; ${findGenerator({ tools })} ${placementWords}`
}

/** @param {SummaryArm['load']} load with a rate */
function renderRateWords({ sliceMs }) {
  return `requests at a rate${sliceMs ? `, in slices of ${sliceMs / 1000} s` : ''}`
}

/** @param {NonNullable<ResultOf<'cost'>['cpus']>} cpus the numbers of pinned CPUs */
function renderPlacementWords({ generator, arms }) {
  const generatorWords = generator === 1 ? 'one CPU' : `${generator} CPUs`
  return `on ${generatorWords}, all proxies on ${arms === 1 ? 'another' : `${arms} others`}`
}

/**
 * Renders the numbers of connections, since a request costs more with more of them.
 * @param {ResultOf<'cost'>} result
 * @returns {string[]} one sentence, with the range of each proxy over its arms; []: none were counted
 */
function renderConnections({ arms, connections }) {
  const countedArms = connections.flatMap(({ armId, count }) => {
    const arm = arms.find(({ id }) => id === armId)
    return arm && arm.repeatOf === null && count !== null ? [{ name: renderArmName(arm), count }] : []
  })
  const planes = [...groupBy(countedArms, ({ name }) => name)].map(([name, rows]) => {
    const counts = rows.map(({ count }) => count)
    const [least, most] = [Math.min(...counts), Math.max(...counts)]
    return `${name} ${renderRange(least, most)}`
  })
  return planes.length > 0 ? [`Connections that the sidecars held at the end of the window: ${planes.join(', ')}.`] : []
}
