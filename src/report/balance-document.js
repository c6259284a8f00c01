import { answerOfBalance, describeForm, NOTES } from './balance.js'
import { drawBalance, tabulateBalance, tabulateBalanceWords } from './balance-tables.js'
import { tabulateClaims } from './document.js'
import { tabulateProvenance } from './provenance.js'

/**
 * A run of `balance` as the document of any run. Pure.
 * @import { BalanceManifest, BalanceSummary } from '../model/types.ts'
 * @import { ClaimResult } from '../analysis/claims/claims.js'
 * @import { Document } from './document.js'
 */

/** @param {{ manifest: BalanceManifest, summary: BalanceSummary, claims: ClaimResult[] }} run @returns {Document} */
export function createBalanceDocument({ manifest, summary, claims }) {
  return {
    title: `${summary.run.experiment}, ${describeForm(summary)}`,
    question: summary.question,
    startedAt: summary.run.startedAt,
    answer: answerOfBalance(summary),
    results: summary.form.sizes.map(sizes => tabulateBalance(summary, sizes)),
    notes: NOTES,
    charts: {
      rounds: drawBalance(summary),
      distributions: [],
      overTime: [],
      overRate: [],
      overLimit: [],
      overShare: [],
      overSidecars: [],
    },
    dots: 'A dot is a seed, which is a round here; a bar is the median, a band its 95 % interval.',
    ...tabulateClaims(claims),
    provenance: tabulateProvenance(manifest),
    dictionary: tabulateBalanceWords(),
    missing: [],
    verdicts: [],
    contrasts: [],
    findings: [],
    thresholds: [],
    next: [],
    fired: [],
    trials: null,
    parity: null,
    disparities: [],
  }
}
