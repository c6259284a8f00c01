import { balanceManifestSchema, balanceSummarySchema, balanceTrialSchema } from './schemas/balance.js'
import { manifestSchema } from './schemas/manifest.js'
import { growthSchema, rolloutSchema } from './schemas/rollout.js'
import { summarySchema } from './schemas/summary.js'
import { observationSchema, sampleSchema, trialSchema } from './schemas/trial.js'

/** The schemas of the documents of a run on disk: types.ts infers their types, `npm run schema` writes them as JSON Schema. Pure. */

export { findFault } from '../lib/schema-issue.js'
export * from './schemas/balance.js'
export * from './schemas/load-result.js'
export * from './schemas/manifest.js'
export * from './schemas/parts.js'
export * from './schemas/rollout.js'
export * from './schemas/summary.js'
export * from './schemas/trial.js'

export const SCHEMAS = {
  manifest: manifestSchema,
  trial: trialSchema,
  observation: observationSchema,
  sample: sampleSchema,
  rollout: rolloutSchema,
  growth: growthSchema,
  summary: summarySchema,
  'balance-manifest': balanceManifestSchema,
  'balance-trial': balanceTrialSchema,
  'balance-summary': balanceSummarySchema,
}
