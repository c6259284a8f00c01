import { fitMemory, renderWithResidual } from '../../judge/over-sidecars.js'
import { summariseValues } from '../../lib/stats.js'
import { MIB, renderInterval } from '../../lib/units.js'
import { listVariedAxes, pickChoice, renderArmLabel } from '../../model/arms.js'
import { answerGrowth } from './answer.js'
import { hasHeld, listMemoryPoints, renderEndings } from './numbers.js'

/** Sections of growth: the sidecars that each control plane served, and its memory for a sidecar. Pure. */
/** @import { Arm, GrowthFit, ResultOf, SummaryArm, TrialRecord } from '../../model/types.ts' */
/** @import { Sections } from '../sections.js' */

const POINTS_MOST = 10

/** @type {Sections<ResultOf<'growth'>>} */
export const growthSections = {
  kind: 'growth',
  hasWindows: false,
  hasSeries: false,
  summarise: run => ({ growths: fitGrowths(run) }),
  answer: answerGrowth,
  findings: ({ arms, growths }) => [
    'With more and more sidecars:',
    ...growths.flatMap(growth => renderGrowth(growth, renderGrowthLabel(arms, growth))),
  ],
  charts({ result: { arms, growths } }) {
    const lines = growths.flatMap((growth, i) =>
      growth.memory ? [{ label: renderGrowthLabel(arms, growth), colour: i + 1, memory: growth.memory }] : [],
    )
    const title = 'Memory of the control plane over the number of sidecars'
    return lines.length > 0 ? [{ form: 'overSidecars', id: 'over-sidecars', title, lines }] : []
  },
}

/**
 * Summarises the growths of each arm.
 * @param {{ arms: Arm[], records: TrialRecord[] }} run
 * @returns {GrowthFit[]} one for each arm that grew; memory: null: fewer than three numbers of sidecars
 */
export function fitGrowths({ arms, records }) {
  return arms.flatMap(arm => {
    const trialsOfArm = records.flatMap(({ trial, growth }) =>
      growth && trial.arm.id === arm.id ? [{ trial, growth }] : [],
    )
    if (trialsOfArm.length === 0) return []
    const rounds = trialsOfArm.map(({ trial: { round }, growth: { sidecars, ended } }) => {
      const { sidecars: failedAt = null, reason = null, why = null } = ended ?? {}
      return { round, sidecars, failedAt, reason, why }
    })
    return [
      {
        ...pickChoice(arm),
        armId: arm.id,
        rounds,
        memory: fitMemory(trialsOfArm.flatMap(({ growth }) => listMemoryPoints(growth))),
        hasControl: trialsOfArm[0].growth.hasControl,
        sidecarsMost: trialsOfArm[0].growth.sidecarsMost,
        steps: summariseSteps(trialsOfArm.map(({ growth }) => growth)),
      },
    ]
  })
}

/**
 * Summarises the durations of the steps that held in at least one round, over all rounds.
 * @param {NonNullable<TrialRecord['growth']>[]} growths of an arm
 * @returns {GrowthFit['steps']} seconds: the value of a round is null if the step did not hold in it
 */
function summariseSteps(growths) {
  const counts = new Set(growths.flatMap(({ steps }) => steps.filter(hasHeld).map(({ sidecars }) => sidecars)))
  return [...counts].map(sidecars => ({
    sidecars,
    seconds: summariseValues(growths.map(({ steps }) => steps.find(s => s.sidecars === sidecars)?.seconds ?? null)),
  }))
}

/**
 * Renders the label of a growth's arm; its id if the arm is not in the result.
 * @param {SummaryArm[]} arms
 * @param {Pick<GrowthFit, 'armId'>} growth
 * @returns {string}
 */
function renderGrowthLabel(arms, { armId }) {
  const arm = arms.find(({ id }) => id === armId)
  return arm ? renderArmLabel(arm, listVariedAxes(arms)) : armId
}

/**
 * Renders the endings of an arm, with the first line of each cause, the fit of the memory, and the seconds of some
 * steps.
 * @param {GrowthFit} growth
 * @param {string} name of the arm
 * @returns {string[]} lines
 */
function renderGrowth(growth, name) {
  const { rounds, memory, steps } = growth
  const secondsBySize = pickExamples(steps).map(
    ({ sidecars, seconds }) => `${sidecars}: ${seconds.median?.toFixed(2) ?? '-'}`,
  )
  const causes = [...new Map(rounds.flatMap(({ reason, why }) => (reason ? [[reason, why]] : [])))]
  return [
    `  ${name}: ${renderEndings(growth)}`,
    ...causes.map(([reason, why]) => `    ${reason}: ${why?.split('\n')[0]}`),
    ...(memory ? renderMemory(memory) : []),
    ...(secondsBySize.length > 0 ? [`    seconds of a step: ${secondsBySize.join('  ')}`] : []),
  ]
}

/**
 * Renders the fitted line, its largest residual, and some points.
 * @param {NonNullable<GrowthFit['memory']>} memory
 * @returns {string[]} two lines
 */
function renderMemory({ baseBytes, bytesPerSidecar, points, ...ends }) {
  const renderKilobytes = (/** @type {number} */ bytes) => (bytes / 1000).toFixed(1)
  const largest = Math.max(...points.map(p => Math.abs(p.residualBytes)))
  const picked = pickExamples(points)
  return [
    `    memory of the control plane: ${(baseBytes / MIB).toFixed(1)} MiB + ${renderKilobytes(bytesPerSidecar)} kB a sidecar${renderInterval(ends, renderKilobytes)}, off by at most ${(largest / MIB).toFixed(2)} MiB`,
    `      ${picked.map(p => `${p.sidecars}: ${renderWithResidual(p.bytes / MIB, p.residualBytes / MIB, { digitsOff: 2 })}`).join('  ')}`,
  ]
}

/**
 * Picks about POINTS_MOST items at even distances, always with the last.
 * @template T
 * @param {T[]} items
 * @returns {T[]}
 */
function pickExamples(items) {
  const every = Math.ceil(items.length / POINTS_MOST)
  return items.filter((_, i) => (i + 1) % every === 0 || i === items.length - 1)
}
