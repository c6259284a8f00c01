import { sidecarsOf, sumOf } from '../../judge/record/measures.js'
import { groupBy } from '../../lib/group-by.js'
import { summariseValues } from '../../lib/stats.js'
import { nameOf } from '../../model/arms.js'
import { generatorOf } from '../../model/tools.js'
import { answerCost } from './answer.js'

/** The cost of interleaved planes. Pure. @import { Sections } from '../sections.js' */
/** @import { Manifest, Summary, TrialRecord } from '../../model/types.ts' */

/** @type {Sections} */
export const costSections = {
  heading: () => 'Cost of a request, interleaved',
  summarise: run => ({ interleaved: summariseInterleaved(run) }),
  answer: answerCost,
  findings: summary => [`${nameConditions(summary)}.`, ...tellConnections(summary)],
}

/** @param {{ manifest: Manifest, records: TrialRecord[] }} run @returns {NonNullable<Summary['interleaved']>} */
function summariseInterleaved({ manifest: { arms, placements }, records }) {
  const interleavedArms = arms.filter(arm => arm.load.isInterleaved)
  const placement = placements[interleavedArms[0].id] ?? null
  return {
    cpus: placement && { generator: placement.generator.length, arms: placement.sidecar.length },
    connections: interleavedArms
      .filter(arm => arm.hasSidecars)
      .map(({ id }) => ({
        armId: id,
        count: summariseValues(
          records.flatMap(r => (r.trial.arm.id === id ? (sumOf(sidecarsOf(r), p => p.connections ?? null) ?? []) : [])),
        ).median,
      })),
  }
}

/** Names the load, its generator and their CPUs: a ratio holds for these. @param {Summary} summary */
function nameConditions({ arms, interleaved, tools }) {
  const [{ load }] = arms
  const how =
    load.kind === 'open'
      ? `requests at a rate${load.sliceMs ? `, in slices of ${load.sliceMs / 1000} s` : ''}`
      : `${load.users} users in slices of ${load.sliceMs} ms`
  const cpus = (/** @type {number} */ count) => (count === 1 ? 'one CPU' : `${count} CPUs`)
  const where = interleaved?.cpus
    ? `on ${cpus(interleaved.cpus.generator)}, all proxies on ${interleaved.cpus.arms === 1 ? 'another' : `${interleaved.cpus.arms} others`}`
    : 'and all proxies unpinned'
  return `Interleaved, without a CPU limit: ${how}; ${generatorOf({ tools })} ${where}`
}

/** Tells the numbers of connections, since more of them make a request dearer. @param {Summary} summary */
function tellConnections({ arms, interleaved }) {
  const connections = (interleaved?.connections ?? []).flatMap(({ armId, count }) => {
    const arm = arms.find(({ id }) => id === armId)
    return arm && arm.repeatOf === null && count !== null ? [{ name: nameOf(arm), count }] : []
  })
  const planes = [...groupBy(connections, ({ name }) => name)].map(([name, rows]) => {
    const counts = rows.map(({ count }) => count)
    const [least, most] = [Math.min(...counts), Math.max(...counts)]
    return `${name} ${least === most ? least : `${least} to ${most}`}`
  })
  return planes.length > 0 ? [`Connections that the sidecars held at the end of the window: ${planes.join(', ')}.`] : []
}
