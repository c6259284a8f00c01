/**
 * Events of a run while it goes on. Moments are epoch milliseconds.
 * planned: trials null: a search, its length is not known; seconds: estimated; once more with the same id: its plan changed;
 *   contrasts: axes on which a plane is compared with itself.
 * trial-started, trial-ended: progress, such as 'repeat 2 of 6'; null: the trial is of an earlier run.
 * repeat-ended: of the arms of one kind of trial, with its trials that were run again; rounds: planned; isMost: the run may
 *   end before; secondsLeft: of the run.
 * sampled: specs in the order of the readings; on a cluster, those of a window come together when it ends.
 * counted: requests that the generator has made since it started, and those of them that failed; about once a second.
 * Watcher: say: a line of progress; watch: is told what happens, as it does; must be quick; follow: is told the phases of
 * trials, samples and counts, too, which take CPU from what is measured.
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

// A module of types.
export {}
