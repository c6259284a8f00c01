import { nameOf } from '../../model/arms.js'
import { toLimits } from '../../model/container-limits.js'
import { withWarmupFor } from '../../plan/plan.js'
import { judgeTrial, startFirst, startSearch } from './searches.js'

/** @import { Arm, SearchSpec } from '../../model/types.ts' @import { Pass } from '../../run/kind.js' */
/** @import { Need } from './first-answer.js' @import { FirstAnswer } from './size.js' */
/** @import { SearchOptions } from './step.js' */

/** Searches for the limit of each arm: a first answer of all comes first, then each search to its end. @param {Pass} pass */
export async function measureSearches({ plan, cpus, reusable, run, adopt, turns, say, signal }) {
  const spec = /** @type {SearchSpec} */ (plan.search)
  const searches = plan.arms.map(template => createSearch({ template, spec, cpus, reusable, run, adopt, say, signal }))
  for (const search of searches) await search.findFirst()
  for (const search of searches) await search.finish()
  turns.pass()
}

/**
 * Creates a search, which takes trials of an earlier run. findFirst goes on, trial by trial, to a first answer.
 * @param {SearchOptions & Pick<Pass, 'reusable' | 'run' | 'adopt' | 'say' | 'signal'>} options
 */
function createSearch({ template, spec, cpus, reusable, run, adopt, say, signal }) {
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
    // A trial that was not judged says nothing about the limits: measure it again.
    const known = reusable.take(arm, other => judgeTrial(spec, { ...other, trial }).held !== null)
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

/** @param {Pick<Arm, 'plane' | 'variant' | 'profile' | 'load'>} template @param {FirstAnswer} first */
export function describeFirst(template, first) {
  const whose = `first answer, ${nameOf(template)}:`
  const rate = `${template.load.ratePerSecond} requests/s`
  const tell = (/** @type {Need} */ of) => {
    const { millicores, mebibytes } = toLimits(of)
    return `${millicores}m and ${mebibytes}Mi`
  }
  if ('limits' in first) {
    const p99 = first.p99Ms === null ? '' : ` with a p99 of ${first.p99Ms.toFixed(1)} ms`
    return `${whose} ${tell(first.limits)} held ${rate} twice${p99}; the smallest limits come next`
  }
  const { why, estimate } = first
  if (estimate === null) return `${whose} none yet: ${why}`
  const { limits, trials, coresLeast, need } = estimate
  return `${whose} about ${tell(limits)}, an estimate that is not confirmed: ${why}. In ${trials} trials at ${rate} the busiest sidecar took ${Math.round(1000 * coresLeast)}m to ${tell(need)}`
}
