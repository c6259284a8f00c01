import { BenchError } from '../../lib/errors.js'

/** @import { Connection } from './connection.js' */

const PINGS = 8
const APART_MOST_MS = 1000

/**
 * aheadMs: of this machine's, right within uncertaintyMs.
 * @typedef {{ aheadMs: number, uncertaintyMs: number, roundTripMs: number }} Clock
 */

/**
 * Measures the clock of another machine by the question that was answered fastest, as in NTP (RFC 5905, 8).
 * @param {Pick<Connection, 'ask' | 'host'>} connection @throws {BenchError} where it cannot be read
 */
export async function measureClock({ ask, host }) {
  let roundTripMs = Number.POSITIVE_INFINITY
  let best = { uncertaintyMs: Number.POSITIVE_INFINITY, aheadMs: 0 }
  for (let i = 0; i < PINGS; i++) {
    const began = performance.now()
    await ask('ping')
    roundTripMs = Math.min(roundTripMs, performance.now() - began)
    // Date.now() is cut to a millisecond.
    const [sentMs, sentAt] = [Date.now() + 0.5, performance.now()]
    const answer = await ask('time')
    const halfMs = (performance.now() - sentAt) / 2
    if (!/^\d{19}$/.test(answer)) {
      throw new BenchError(
        `the clock of ${host} cannot be read: date +%s%N says "${answer}" there; install GNU coreutils`,
      )
    }
    if (halfMs + 0.5 < best.uncertaintyMs)
      best = { uncertaintyMs: halfMs + 0.5, aheadMs: Number(answer) / 1e6 - (sentMs + halfMs) }
  }
  return { ...best, roundTripMs }
}

/** Refuses a clock that nobody sets: a smaller difference is counted out. @param {Clock} clock @param {string} host */
export function assertTogether({ aheadMs }, host) {
  if (Math.abs(aheadMs) <= APART_MOST_MS) return
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
  throw new BenchError(
    `the clock of ${host} is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's (at most 1 s): have both set by NTP, such as with timedatectl set-ntp true`,
  )
}
