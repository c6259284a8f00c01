import { withWarmupFor } from '../plan/plan.js'
import { judgeOutcome } from '../search/outcome.js'
import { startSearch } from '../search/searches.js'

/**
 * @import { Arm, SearchSpec, Trial, TrialRecord } from '../model/types.ts'
 * @import { RunOne } from './run.js'
 */

/**
 * Trials of earlier runs that a search may take instead of measuring again; each record is given once.
 * @typedef {{ take: (arm: Arm) => { folder: string, record: TrialRecord } | null }} Reusable
 */

/**
 * Looks for an arm's limit, trial after trial; those that an earlier run has are taken from it.
 * @param {{ template: Arm, spec: SearchSpec, cpus: number, reusable: Reusable, run: RunOne,
 *   adopt: (known: { folder: string, record: TrialRecord }, trial: Trial) => TrialRecord, say: (line: string) => void,
 *   signal: AbortSignal }} options
 *   adopt: takes a record of an earlier run into this one
 */
export async function runSearch({ template, spec, cpus, reusable, run, adopt, say, signal }) {
  const search = startSearch({ template, spec, cpus })
  const counts = new Map()
  for (let step = search.next(); !step.done; ) {
    signal.throwIfAborted()
    const arm = withWarmupFor(step.value)
    const nth = (counts.get(arm.id) ?? 0) + 1
    counts.set(arm.id, nth)
    const trial = { id: `s${nth}-${arm.id}`, round: nth, arm, repeats: null, searchOf: template.id }
    const progress = `looking for the ${spec.kind}`
    const known = reusable.take(arm)
    const record = known ? adopt(known, trial) : await run({ trial, progress })
    if (known) say(`${progress}  ${trial.id}: taken from ${known.folder}`)
    const outcome = judgeOutcome(record, spec.p99Ms)
    say(`    ${outcome.held === null ? 'not judged' : outcome.held ? 'held' : 'failed'}: ${outcome.why}`)
    step = search.next(outcome)
  }
}
