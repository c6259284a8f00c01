import { toLimits } from '../lib/units.js'
import { nameOf } from '../model/arms.js'
import { withWarmupFor } from '../plan/plan.js'
import { judgeTrial, startFirst, startSearch } from '../search/searches.js'

/**
 * @import { Arm, SearchSpec, Trial, TrialRecord } from '../model/types.ts'
 * @import { RunOne } from './run.js'
 */

/**
 * Trials of earlier runs that a search may take instead of measuring again; each record is given once.
 * @typedef {{ take: (arm: Arm) => { folder: string, record: TrialRecord } | null }} Reusable
 */

/**
 * A search that goes on trial after trial; those that an earlier run has are taken from it.
 * @param {{ template: Arm, spec: SearchSpec, cpus: number, reusable: Reusable, run: RunOne,
 *   adopt: (known: { folder: string, record: TrialRecord }, trial: Trial) => TrialRecord, say: (line: string) => void,
 *   signal: AbortSignal }} options
 *   adopt: takes a record of an earlier run into this one
 * @returns {{ findFirst: () => Promise<void>, finish: () => Promise<void> }} findFirst: goes on until there is a first
 *   answer, and says it
 */
export function createSearch({ template, spec, cpus, reusable, run, adopt, say, signal }) {
  const search = startSearch({ template, spec, cpus })
  const first = startFirst({ template, spec, cpus })
  first?.next()
  const counts = new Map()
  let step = search.next()
  const tryNext = async () => {
    signal.throwIfAborted()
    const arm = withWarmupFor(/** @type {Arm} */ (step.value))
    const nth = (counts.get(arm.id) ?? 0) + 1
    counts.set(arm.id, nth)
    const trial = { id: `s${nth}-${arm.id}`, round: nth, arm, repeats: null, searchOf: template.id }
    const progress = `looking for the ${spec.kind}`
    const known = reusable.take(arm)
    const record = known ? adopt(known, trial) : await run({ trial, progress })
    if (known) say(`${progress}  ${trial.id}: taken from ${known.folder}`)
    const outcome = judgeTrial(spec, record)
    say(`    ${outcome.held === null ? 'not judged' : outcome.held ? 'held' : 'failed'}: ${outcome.why}`)
    step = search.next(outcome)
    return outcome
  }
  return {
    async findFirst() {
      while (first !== null && !step.done) {
        const { done, value } = first.next(await tryNext())
        if (!done) continue
        say(describeFirst(template, value.first))
        return
      }
    },
    async finish() {
      while (!step.done) await tryNext()
    },
  }
}

/**
 * @param {Arm} template
 * @param {{ limits: { cores: number, bytes: number }, p99Ms: number | null } | null} first
 */
function describeFirst(template, first) {
  const whose = `first answer, ${nameOf(template)}:`
  if (first === null) return `${whose} none yet`
  const { limits, p99Ms } = first
  const p99 = p99Ms === null ? '' : ` with a p99 of ${p99Ms.toFixed(1)} ms`
  const { millicores, mebibytes } = toLimits(limits)
  return `${whose} ${millicores}m and ${mebibytes}Mi held ${template.load.ratePerSecond} requests/s twice${p99}; the smallest limits come next`
}
