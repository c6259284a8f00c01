// The assignment of items to shards, as arithmetic.
import type { z } from 'zod'
import type * as S from '../schemas.js'

export type BalanceForm = z.infer<typeof S.balanceForm>
export type BalanceManifest = z.infer<typeof S.balanceManifestSchema>
export type BalanceTrial = z.infer<typeof S.balanceTrialSchema>
export type BalanceSummary = z.infer<typeof S.balanceSummarySchema>
export type BalanceRow = BalanceSummary['rows'][0]
