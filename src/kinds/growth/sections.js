import { fitMemoryOverSidecars } from '../../judge/fit-over-sidecars.js'
import { summariseValues } from '../../lib/stats.js'
import { MIB, renderInterval, renderWithResidual } from '../../lib/units.js'
import { pickPlaneChoice } from '../../model/arms.js'
import { answerGrowth, renderGrowthLabel } from './answer.js'
import { hasHeld, listMemoryPoints, renderGrowthEndings } from './numbers.js'

/** Sections of growth: the sidecars that each control plane served, and its memory for a sidecar. Pure. */
/** @import { Arm, GrowthFit, ResultOf, TrialRecord } from '../../model/types.ts' */
/** @import { Sections } from '../sections.js' */

const POINTS_MOST = 10

/** @type {Sections<ResultOf<'growth'>>} */
export const growthSections = {
  kind: 'growth',
  hasWindows: false,
  hasSeries: false,
  summarise: run => ({ growths: summariseGrowths(run) }),
  createAnswer: answerGrowth,
  renderFindings: ({ arms, growths }) => [
    'With more and more sidecars:',
    ...growths.flatMap(growth => renderGrowthFindings(growth, renderGrowthLabel(arms, growth))),
  ],
  drawCharts({ result: { arms, growths } }) {
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
 * @returns {GrowthFit[]} one for each arm that grew, []: none did; memory: null: fewer than three numbers of sidecars have a reading
 */
export function summariseGrowths({ arms, records }) {
  return arms.flatMap(arm => {
    const trials = records.flatMap(({ trial, growth }) =>
      growth && trial.arm.id === arm.id ? [{ round: trial.round, growth }] : [],
    )
    return trials.length > 0 ? [summariseArmGrowths(arm, trials)] : []
  })
}

/**
 * Summarises the growths of an arm.
 * @param {Arm} arm
 * @param {{ round: number, growth: NonNullable<TrialRecord['growth']> }[]} trials at least one
 * @returns {GrowthFit} memory: null: fewer than three numbers of sidecars have a reading
 */
function summariseArmGrowths(arm, trials) {
  const growths = trials.map(({ growth }) => growth)
  const [{ hasControl, sidecarsMost }] = growths
  return {
    ...pickPlaneChoice(arm),
    armId: arm.id,
    rounds: trials.map(({ round, growth: { sidecars, ended } }) => {
      const { sidecars: failedAt = null, reason = null, why = null } = ended ?? {}
      return { round, sidecars, failedAt, reason, why }
    }),
    memory: fitMemoryOverSidecars(growths.flatMap(listMemoryPoints)),
    hasControl,
    sidecarsMost,
    steps: summariseSteps(growths),
  }
}

/**
 * Summarises the durations of the steps that held in at least one round, over all rounds.
 * @param {NonNullable<TrialRecord['growth']>[]} growths of an arm
 * @returns {GrowthFit['steps']} seconds: the value of a round is null if the step did not hold in it, or was not reached; []: no step
 *   held
 */
function summariseSteps(growths) {
  const sizes = new Set(growths.flatMap(({ steps }) => steps.filter(hasHeld).map(({ sidecars }) => sidecars)))
  return [...sizes].map(sidecars => ({
    sidecars,
    seconds: summariseValues(growths.map(({ steps }) => steps.find(s => s.sidecars === sidecars)?.seconds ?? null)),
  }))
}

/**
 * Renders the endings of an arm, with the first line of the last cause for each reason, the fit of the memory if there is one, and
 * the seconds of some steps.
 * @param {GrowthFit} growth
 * @param {string} name of the arm
 * @returns {string[]} lines
 */
function renderGrowthFindings(growth, name) {
  const { rounds, memory, steps } = growth
  const stepTexts = pickExamples(steps).map(
    ({ sidecars, seconds }) => `${sidecars}: ${seconds.median?.toFixed(2) ?? '-'}`,
  )
  const causes = [...new Map(rounds.flatMap(({ reason, why }) => (reason ? [[reason, why]] : [])))]
  return [
    `  ${name}: ${renderGrowthEndings(growth)}`,
    ...causes.map(([reason, why]) => `    ${reason}: ${why?.split('\n')[0]}`),
    ...(memory ? renderMemoryFit(memory) : []),
    ...(stepTexts.length > 0 ? [`    seconds of a step: ${stepTexts.join('  ')}`] : []),
  ]
}

/**
 * Renders the line fitted through the memory, its largest residual, and some points.
 * @param {NonNullable<GrowthFit['memory']>} memory
 * @returns {string[]} two lines
 */
function renderMemoryFit({ baseBytes, bytesPerSidecar, points, ...ends }) {
  const renderKilobytes = (/** @type {number} */ bytes) => (bytes / 1000).toFixed(1)
  const largest = Math.max(...points.map(p => Math.abs(p.residualBytes)))
  const examples = pickExamples(points).map(({ sidecars, bytes, residualBytes }) => {
    return `${sidecars}: ${renderWithResidual(bytes / MIB, residualBytes / MIB, { residualDigits: 2 })}`
  })
  return [
    `    memory of the control plane: ${(baseBytes / MIB).toFixed(1)} MiB + ${renderKilobytes(bytesPerSidecar)} kB a sidecar${renderInterval(ends, renderKilobytes)}, off by at most ${(largest / MIB).toFixed(2)} MiB`,
    `      ${examples.join('  ')}`,
  ]
}

/**
 * Picks items at even distances, and the last: at most one more than POINTS_MOST.
 * @template T
 * @param {T[]} items
 * @returns {T[]} []: there are none
 */
function pickExamples(items) {
  const every = Math.ceil(items.length / POINTS_MOST)
  return items.filter((_, i) => (i + 1) % every === 0 || i === items.length - 1)
}
