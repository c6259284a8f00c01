import { ROUNDS_LEAST } from '../lib/stats.js'
import { nameOf } from '../model/arms.js'
import { largestBindingCap } from '../model/caps.js'

/**
 * The lines below the table. Pure.
 * @import { Summary } from '../model/types.ts'
 */

// Far below the rate at saturation: a proxy that is not saturated wakes up for every request, and costs up to
// three times as much CPU for it (measured: 169 and 458 µs for Pipy, 336 and 759 for Envoy at 500 requests/s).
const RATE_SHARE = 0.15

/**
 * What the numbers do and do not say, and what spoiled some of them.
 * @param {Summary} summary
 */
export function renderNotes({ arms, relaxes }) {
  const [{ load }] = arms
  if (load.kind === 'idle') return ['No load: CPU and memory of sidecars that nobody calls, after one request.']
  const isOpen = load.kind === 'open'
  const rounds = Math.max(...arms.map(a => a.throughputPerSecond.values.filter(v => v !== null).length))
  const users = [...new Set(arms.map(a => a.load.users))].join(' or ')
  const sizes = [...new Set(arms.map(a => a.load.payloadBytes))].join(' or ')
  const notes = [
    isOpen
      ? `Open loop: requests start at a rate whatever is answered, at most ${users} under way; added is the latency over no mesh, round by round.`
      : `Response time at saturation (${users} users): in a closed loop it follows from req/s, and is no latency.`,
    ...(arms.some(a => a.load.connections === 'new')
      ? ['With new connections, response times are from the start of the connection, and of its handshake.']
      : []),
    `Medians of up to ${rounds} rounds${rounds >= ROUNDS_LEAST ? ', [95 % interval]' : ': too few for an interval'}; ${sizes} bytes posted and echoed; µs/req is CPU time per verified request, first of all sidecars, then of each.`,
  ]
  if (arms.some(a => a.link === 'ratings') && !arms.some(a => a.load.hasCertificate))
    notes.push('The link ratings carries no mTLS: the client speaks plaintext to the only sidecar.')
  if (!isOpen) {
    const bound = arms.filter(a => a.repeatOf === null && a.capacityPerSecond.median !== null).map(nameOf)
    notes.push(
      bound.length > 0
        ? `req/s is the capacity at this cap where the sidecar bound the run (${[...new Set(bound)].join(', ')}), elsewhere throughput.`
        : arms.some(a => a.boundBy === 'sidecar')
          ? 'No capacity was shown: req/s is throughput.'
          : 'No sidecar bound the run: req/s is throughput, and no capacity.',
    )
  }
  for (const arm of arms) {
    const total = arm.trials.completed + arm.trials.failed + arm.trials.invalid
    for (const { gate, trials, reason } of arm.spoiled)
      notes.push(
        `${nameOf(arm)}${arm.capCores ? ` at ${arm.capCores}` : ''}: ${gate} in ${trials} of ${total} trials: ${reason}`,
      )
  }
  for (const { gate, why } of relaxes) notes.push(`Set aside by the experiment: ${gate}: ${why}`)
  return notes
}

/** @param {Summary} summary */
export function renderThresholds({ thresholds }) {
  return thresholds.map(({ expression, link, capCores, value, held }) => {
    const result = held === null ? 'not tested: spoiled' : `${held ? 'held' : 'CROSSED'}: ${value?.toFixed(3)}`
    return `Threshold ${expression} (${link}${capCores ? `, ${capCores} cores` : ''}): ${result}`
  })
}

/**
 * What this run could not show, and the command that would, here.
 * @param {Summary} summary
 */
export function renderNext({ arms, machine }) {
  const lines = []
  const sidecars = arms.filter(a => a.sidecars.length > 0 && a.capCores !== null)
  const [{ load, link }] = arms
  if (load.kind === 'closed' && sidecars.some(a => a.boundBy !== 'sidecar')) {
    const largest = largestBindingCap(Number(machine.cpus))
    const smallest = Math.min(...sidecars.map(a => a.capCores ?? Number.POSITIVE_INFINITY))
    if (largest < smallest) lines.push(`Capacity can be shown here with: npm run bench -- --cpu ${largest}`)
  }
  const slowest = Math.min(...arms.map(a => a.throughputPerSecond.median ?? 0))
  if (load.kind === 'closed' && slowest > 0) {
    const rate = Number((slowest * RATE_SHARE).toPrecision(1))
    const cpu = sidecars.length > 0 ? ` --cpu ${sidecars[0].capCores}` : ''
    lines.push(
      `Latency at an equal rate, below the knee: npm run bench -- --rate ${Math.max(1, rate)}${cpu} --link ${link}`,
    )
  }
  return lines
}
