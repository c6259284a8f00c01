/**
 * @import { Site } from '../model/types.ts'
 */

const OBSERVE_SECONDS = 3
const IDLE_LEAST = 0.8

/**
 * Reads how idle the machine of the services is while no process of the kit runs, and says so where it is busy.
 * @param {{ site: Site, say: (line: string) => void, signal: AbortSignal }} options
 */
export async function observeIdle({ site, say, signal }) {
  // The kubelet's counters are renewed too seldom for a window of seconds.
  if (site.sampleSource === 'kubelet') return null
  const startMs = Date.now() + 100
  const window = { startMs, endMs: startMs + OBSERVE_SECONDS * 1000 }
  const { start, end } = await site.target.observe([], { window, signal })
  signal.throwIfAborted()
  if (start === null || end === null) return null
  const total = end.host.total - start.host.total
  const idleFraction = (end.host.idle - start.host.idle) / total
  const stealFraction = (end.host.steal - start.host.steal) / total
  if (idleFraction < IDLE_LEAST) {
    const stolen = stealFraction > 0.01 ? `, ${Math.round(100 * stealFraction)} % stolen by its host` : ''
    say(`note: this machine is ${Math.round(100 * idleFraction)} % idle before the run${stolen}: expect wide intervals`)
  }
  return { seconds: OBSERVE_SECONDS, idleFraction, stealFraction }
}
