import { z } from 'zod'
import { P99_REQUESTS } from '../../judge/record/measures.js'
import { LOAD_AXES } from '../../model/axes/load.js'
import { p99Ms } from '../../model/bounds.js'

/** The plan of searches, and what they can be asked. Pure. @import { Plan } from '../../model/types.ts' */
/** @import { KindPlan } from '../kind.js' */

/** Judged trials that confirm limits: so many at least, and where their p99s are too far apart, so many at most. */
export const TRIALS = { least: 3, most: 5 }
const ratePerSecond = LOAD_AXES.ratePerSecond.schema
const PRECISION = { default: 0.05, smoke: 0.5 }
/** Trials of a search, of each arm: measured, on a machine of its own. */
const TRIALS_MOST = { knee: 22, 'memory-floor': 14, size: 12 }
// One with all the CPU, two on the way down, and three at the limits.
const USUAL_TRIALS = 6
const USUAL_SHARE = 0.7
// A search for services tries the ends of the line, and checks each service.
const SERVICES_TRIALS = { line: 2, each: 4 }

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
  // Each service of a file has a p99 of its own.
  limit: (experiment, p99Ms) =>
    experiment.search?.kind === 'services' ? experiment : { ...experiment, search: { ...experiment.search, p99Ms } },
  choosesTrials: true,
  tellTrials: ({ search, arms }) => ({
    // The search of a size begins at the limits of the arms.
    planned:
      search?.kind === 'size'
        ? `a search for the limits of each of ${arms.length} arms, downwards, up to ${countSearchTrials(search)} trials an arm`
        : `a search for the ${search?.kind} from each of ${arms.length} arms`,
    announced: `a search of up to ${countSearchTrials(search)} trials an arm`,
    less: 'a higher --rate, --planes',
    ...((search?.kind === 'size' || search?.kind === 'services') && { chooses: ['cpuLimitCores'] }),
    // A knee search begins without a rate of its own.
    ...(search?.kind === 'knee' && { loop: 'open loop at the rates that the search tries' }),
  }),
  chooseWindowSeconds: (seconds, ratePerSecond) => Math.max(seconds, P99_REQUESTS / ratePerSecond),
}

/** Adds the precision of a profile. @param {z.infer<typeof searchSchema> | null} search @param {string} profile */
export function specifySearch(search, profile) {
  if (search === null) return null
  const precision = profile === 'smoke' ? PRECISION.smoke : PRECISION.default
  const isSize = search.kind === 'size' || search.kind === 'services'
  return { ...search, precision, ...(isSize && { trialsToConfirm: TRIALS.least }) }
}

/** Counts the trials that a search takes on a quiet machine, of each arm. @param {NonNullable<Plan['search']>} search */
export function countUsualTrials(search) {
  return search.kind === 'size' ? USUAL_TRIALS : Math.ceil(countSearchTrials(search) * USUAL_SHARE)
}

/** Counts the most trials that a search takes, of each arm. @param {Plan['search']} search */
export function countSearchTrials(search) {
  if (search === null) return 0
  if (search.kind !== 'services') return TRIALS_MOST[search.kind]
  return SERVICES_TRIALS.line + SERVICES_TRIALS.each * search.services.length
}
