import { z } from 'zod'
import { P99_REQUESTS } from '../../judge/record/measures.js'
import { LOAD_AXES } from '../../model/axes/load.js'
import { p99Ms } from '../../model/bounds.js'
import { listUsualTrials, TRIALS, USUAL } from './trial-counts.js'

/**
 * The plan of searches, and their part of an experiment file. Pure.
 * @import { Arm } from '../../model/types.ts'
 * @import { KindPlan } from '../kind.js'
 */

const ratePerSecond = LOAD_AXES.ratePerSecond.schema
// The width of the final bracket as a fraction of its lower end, in a smoke run and in others.
const PRECISION = { default: 0.05, smoke: 0.5 }

/** The field `search` of an experiment. */
export const searchSchema = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('size'), p99Ms, isExtrapolated: z.boolean() }),
  z.strictObject({
    kind: z.literal('services'),
    services: z
      .array(z.strictObject({ name: z.string(), p99Ms, ratePerSecond, payloadBytes: LOAD_AXES.payloadBytes.schema }))
      .min(1),
  }),
  z.strictObject({ kind: z.literal('knee'), p99Ms, startPerSecond: ratePerSecond }),
  z.strictObject({ kind: z.literal('memory-floor'), p99Ms: p99Ms.nullable().default(null) }),
])

/** @type {KindPlan} */
export const searchPlan = {
  isRequested: ({ search }) => search !== null,
  // --p99 sets no limit for a file of services: each service has its own.
  withP99Bound: (experiment, p99Ms) =>
    experiment.search?.kind === 'services' ? experiment : { ...experiment, search: { ...experiment.search, p99Ms } },
  choosesTrials: true,
  summarisePlan({ search, arms }) {
    const isOfLimits = search?.kind === 'size' || search?.kind === 'services'
    return {
      // The search of a size begins at the limits of the arms.
      planned:
        search?.kind === 'size'
          ? `a search for the limits of each of ${arms.length} arms, downwards, about ${USUAL.size} trials an arm`
          : `a search for the ${search?.kind} from each of ${arms.length} arms`,
      announced: search
        ? `a search of about ${listUsualTrials(search, arms).length} trials${renderLongWindows(arms)}`
        : 'no trials',
      less: 'a higher --rate, --planes',
      // `size` has no --profile, and its trials choose the CPU limits.
      ...(isOfLimits && { hasProfile: false, chooses: ['cpuLimitCores'] }),
      // A search for a knee has no rate of its own: it tries rates.
      ...(search?.kind === 'knee' && { loop: 'open loop at the rates that the search tries' }),
    }
  },
  chooseWindowSeconds: (seconds, ratePerSecond) => Math.max(seconds, P99_REQUESTS / ratePerSecond),
}

/**
 * Renders the seconds of the longest windows, if they are as long as P99_REQUESTS take at a low rate.
 * @param {Arm[]} arms
 * @returns {string} begins with a space; empty: they are as long as planned
 */
function renderLongWindows(arms) {
  const seconds = Math.max(0, ...arms.map(({ load }) => load.windowSeconds))
  const isLongForP99 = arms.some(
    ({ load: { windowSeconds, ratePerSecond } }) =>
      windowSeconds === seconds && ratePerSecond && windowSeconds === P99_REQUESTS / ratePerSecond,
  )
  return isLongForP99 ? ` of ${Math.ceil(seconds)} s (a p99 needs ${P99_REQUESTS} requests)` : ''
}

/**
 * Creates the search of a plan: that of the experiment, with the precision of a profile and, for limits, the number of trials that
 * confirm them.
 * @param {z.infer<typeof searchSchema> | null} search of the experiment
 * @param {string} profile its name
 * @returns trialsToConfirm: absent for a knee and a memory floor; null: the experiment has no search
 */
export function createSearchSpec(search, profile) {
  if (search === null) return null
  const precision = profile === 'smoke' ? PRECISION.smoke : PRECISION.default
  const isOfLimits = search.kind === 'size' || search.kind === 'services'
  return { ...search, precision, ...(isOfLimits && { trialsToConfirm: TRIALS.least }) }
}
