/** @import { Manifest, Plan, TrialRecord } from '../model/types.ts' */

/**
 * The precision of the rounds so far.
 * @typedef {object} Assessment
 * @property {boolean} isReached the run is as precise as planned
 * @property {boolean} hasPairs there are planes to compare
 * @property {number | null} roundsMore the rounds still needed; null: not known
 * @property {string} sentence for the user
 */
/** @typedef {(run: { manifest: Manifest, records: TrialRecord[] }) => Assessment} Assess */

/**
 * @typedef {object} StoppingOptions
 * @property {NonNullable<Plan['precision']>} precision
 * @property {number} mostRounds
 * @property {number} recordedRounds the rounds in the manifest of a resumed run
 * @property {Assess} assess
 * @property {(line: string) => void} say
 * @property {(fields: Partial<Manifest>) => Manifest} writeManifest
 * @property {() => number} [now] reads a clock, in milliseconds; `performance.now` by default
 */

/**
 * Creates a rule that decides after each round whether to run another, and writes the number of rounds to the manifest.
 * @param {StoppingOptions} options
 * @returns begin: begins a round; add: adds a record; endRound: ends a round that was begun, and says whether the run ends. begin
 *   and endRound throw as `writeManifest`
 */
export function createStoppingRule({ precision, mostRounds, recordedRounds, assess, say, writeManifest, ...clock }) {
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
    /**
     * Starts the clock of a round, and writes its number to the manifest.
     * @param {number} round that begins
     */
    begin(round) {
      beganMs = now()
      rounds = Math.max(rounds, round)
      write(null)
    },

    /**
     * Adds a record for the next assessment.
     * @param {TrialRecord} record of the current round
     */
    add(record) {
      records.push(record)
    },

    /**
     * Ends a round: prints how precise the run is so far and, if this was the last round, writes why to the manifest.
     * @param {number} round
     * @returns {boolean} true: the run ends, since it is precise, no planes are left to compare, it has had the most rounds, or
     *   another as long as the longest would exceed the time limit
     */
    endRound(round) {
      longestMs = Math.max(longestMs, now() - beganMs)
      const assessment = assess({ manifest: { ...manifest, rounds: round }, records })
      const { isReached, roundsMore, sentence } = assessment
      const minutes = Math.ceil(((roundsMore ?? 0) * longestMs) / 60_000)
      say(`${sentence}${minutes > 0 && !isReached ? ` (${minutes} min)` : ''}`)
      const isLast = round === mostRounds || now() + longestMs > endsMs
      const cause = chooseEndCause(assessment, isLast)
      if (cause) write(cause)
      return cause !== null
    },
  }
}

/**
 * Chooses the cause for which a run ends.
 * @param {Assessment} assessment
 * @param {boolean} isLast no round is left, or no time for one
 * @returns {NonNullable<Manifest['precision']>['ended']} null: it does not end
 */
function chooseEndCause({ isReached, hasPairs }, isLast) {
  if (isReached) return 'reached'
  if (!hasPairs) return 'no-pair'
  return isLast ? 'time' : null
}
