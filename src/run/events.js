/**
 * Events of a run while it goes on. Moments are epoch milliseconds.
 * planned: sent again with the same id when the plan changes; trials: null: a search, whose length is not known; seconds: the
 *   estimated length of the run; contrasts: axes on which a plane is compared with itself.
 * trial-started: secondsLeft: null: not known. trial-ended: progress null: the record was read back or adopted, not measured now.
 *   progress is a text such as 'repeat 2 of 6'.
 * repeat-ended: a round of one kind of trial is over, with the trials that it repeated; rounds: planned; isMost: the run may
 *   end before them; secondsLeft: of the run, 0 if not known.
 * sampled: specs are in the order of the readings; on a cluster, all samples of a window come when it ends.
 * counted: the requests since the generator started, and how many of them failed; about once a second.
 * Watcher: say prints a line of progress; watch gets the events as they happen, and must return soon; follow gets the phases of
 * trials, samples and counts: absent, they are not made, since they take CPU from what is measured.
 * @import { Arm, AxisName, ProcessSpec, Sample, Trial, TrialRecord } from '../model/types.ts'
 * @typedef {'parity' | 'starting' | 'warm-up' | 'window' | 'tail' | 'stopping'} Phase
 * @typedef {{ kind: 'planned', run: { id: string, experiment: string, question: string }, arms: Arm[], rounds: number,
 *     trials: number | null, seconds: number, contrasts: AxisName[], atMs: number }
 *   | { kind: 'trial-started', trial: Trial, progress: string, secondsLeft: number | null, atMs: number }
 *   | { kind: 'phase', phase: Phase, atMs: number }
 *   | { kind: 'sampled', specs: ProcessSpec[], sample: Sample, windowStartMs: number }
 *   | { kind: 'counted', requests: number, failed: number, atMs: number }
 *   | { kind: 'trial-ended', record: TrialRecord, progress: string | null, atMs: number }
 *   | { kind: 'repeat-ended', round: number, rounds: number, isMost: boolean, arms: string[], secondsLeft: number,
 *     atMs: number }
 *   | { kind: 'ended', outcome: 'finished' | 'interrupted' | 'failed', atMs: number }} RunEvent
 * @typedef {{ say: (line: string) => void, watch?: (event: RunEvent) => void, follow?: (event: RunEvent) => void }} Watcher
 */

// This file has types only: the empty export makes it a module.
export {}
