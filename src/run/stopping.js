/**
 * Ends rounds that go on until the result is precise. Assess computes how precise the rounds so far are, with a sentence that says so.
 * @import { Manifest, Plan, TrialRecord } from '../model/types.ts'
 * @typedef {{ isReached: boolean, hasPairs: boolean, roundsMore: number | null, sentence: string }} Assessment
 *   isReached: the precision is; hasPairs: there are planes to compare; roundsMore: the rounds still needed; null: not known
 * @typedef {(run: { manifest: Manifest, records: TrialRecord[] }) => Assessment} Assess
 * @typedef {ReturnType<typeof createStopping>} Stopping
 */

/**
 * Decides after each round whether to run another, and writes the number of rounds to the manifest.
 * @param {{ precision: NonNullable<Plan['precision']>, mostRounds: number, recordedRounds: number, assess: Assess,
 *   say: (line: string) => void, writeManifest: (fields: Partial<Manifest>) => Manifest, now?: () => number }} options
 *   recordedRounds: the rounds in the manifest of a resumed run; now: reads a clock, in milliseconds
 */
export function createStopping({ precision, mostRounds, recordedRounds, assess, say, writeManifest, ...clock }) {
  const { now = () => performance.now() } = clock
  const endsMs = now() + 60_000 * precision.maxMinutes
  /** @type {TrialRecord[]} */
  const records = []
  let longestMs = 0
  let beganMs = now()
  // A resumed run reads back recorded rounds: the manifest keeps their number.
  let rounds = recordedRounds
  /** @type {Manifest} */
  let manifest
  const write = (/** @type {NonNullable<Manifest['precision']>['ended']} */ ended) => {
    manifest = writeManifest({ rounds, precision: { width: precision.width, mostRounds, ended } })
  }
  return {
    /** Starts the clock of a round, and writes its number to the manifest. @param {number} round that begins */
    begin(round) {
      beganMs = now()
      rounds = Math.max(rounds, round)
      write(null)
    },

    /** Adds a record for the next assessment. @param {TrialRecord} record of the round that goes on */
    add(record) {
      records.push(record)
    },

    /** Says whether a round was the last: precise, no planes left to compare, the most rounds, or no time for one as long as the longest. @param {number} round */
    isOver(round) {
      longestMs = Math.max(longestMs, now() - beganMs)
      const run = { manifest: { ...manifest, rounds: round }, records }
      const { isReached, hasPairs, roundsMore, sentence } = assess(run)
      const isLate = round === mostRounds || now() + longestMs > endsMs
      const minutes = Math.ceil(((roundsMore ?? 0) * longestMs) / 60_000)
      say(`${sentence}${minutes > 0 && !isReached ? ` (${minutes} min)` : ''}`)
      const ended = isReached ? 'reached' : !hasPairs ? 'no-pair' : isLate ? 'time' : null
      if (ended) write(ended)
      return ended !== null
    },
  }
}
