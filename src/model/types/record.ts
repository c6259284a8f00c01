// What is read of processes, and what is recorded: the schemas say what each field is.
import type { z } from 'zod'
import type * as S from '../schemas.js'

/** What a trial can be used for; a gate spoils some of these. */
export type Use = z.infer<typeof S.use>
/** A check that failed, and the uses it spoils. */
export type GateFinding = z.infer<typeof S.gateFinding>
export type ThreadCpu = z.infer<typeof S.threadCpu>
/** One reading of a group of processes; what a kernel does not offer is null. */
export type Reading = z.infer<typeof S.reading>
export type ProcessMemory = z.infer<typeof S.processMemory>
export type ProcessRecord = z.infer<typeof S.processRecord>
export type Distribution = z.infer<typeof S.distribution>
export type LoadResult = z.infer<typeof S.loadResult>
/** Requests that started in one piece of the window. */
export type LoadPoint = z.infer<typeof S.loadPoint>
export type BoundBy = z.infer<typeof S.boundBy>
export type TrialRecord = z.infer<typeof S.trialSchema>
/** raw/<trial>/rollout.json: when each sidecar had its configurations, and what that took. */
export type RolloutRecord = z.infer<typeof S.rolloutSchema>
/** raw/<trial>/growth.json: the steps by which sidecars were added until one failed, and what ended it. */
export type GrowthRecord = z.infer<typeof S.growthSchema>
export type FailureReason = z.infer<typeof S.failureReason>
/** When a sidecar was first answered by a configuration that it was to have since a moment. */
export type Told = z.infer<typeof S.told>
/** How a process ended that was not stopped, and whether the kernel ended it for memory. */
export type EndedProcess = z.infer<typeof S.endedProcess>
/** What is read of a process outside of the window: it costs too much inside. */
export type Look = z.infer<typeof S.look>

/** One moment: the reading of every process, in the order of the processes; and which edge of the window it is, if one. */
export interface Sample {
  epochMs: number
  edge?: 'start' | 'end'
  readings: Reading[]
}

/** Everything at one edge of the window, in the order of the processes. */
export interface Edge extends z.infer<typeof S.edge> {
  sample: Sample
}

/** What was seen of a window; edges are null when it was cut short. */
export interface Observation {
  samples: Sample[]
  start: Edge | null
  end: Edge | null
  /** Just after the window, under load still. */
  after: Look[] | null
  /** How far the clock of what observes is from the generator's. */
  clockOffsetMs: number
  /** The processes that ran on the host of the edges, by their place; absent: all. */
  onHost?: number[]
  /** Of the machine of the load, where that is another one than `onHost` is about. */
  loadHost?: z.infer<typeof S.loadHostSeen>
}

/** The plain facts of a process that an observation keeps. */
export type ObservedProcess = z.infer<typeof S.observedProcess>
/** raw/<trial>/observation.json: everything observed of a window but its samples; lists are in the order of `processes`. */
export type ObservationRecord = z.infer<typeof S.observationSchema>
/** manifest.json */
export type Manifest = z.infer<typeof S.manifestSchema>
export type Kit = z.infer<typeof S.kit>
export type ScriptFolder = z.infer<typeof S.scriptFolder>
/** A line of samples.jsonl. */
export type SampleLine = z.infer<typeof S.sampleSchema>
/** Where CPU time and memory are read: the kernel's own files at 10 Hz, or the kubelet's counters with their own time stamps. */
export type SampleSource = z.infer<typeof S.sampleSource>
/** Clock ticks of all CPUs: idle, stolen, busy (without interrupts), all; and how many CPUs that are. */
export type HostCpu = z.infer<typeof S.hostCpu>
/** In epoch milliseconds. */
export type Window = z.infer<typeof S.window>
