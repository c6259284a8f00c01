// The plan of a run.
import type { CONTROL_PLANE_AXES } from '../axes/control-plane.js'
import type { LOAD_AXES } from '../axes/load.js'
import type { SIDECAR_AXES } from '../axes/sidecar.js'
import type { Arm, Manifest, RunSettings, SearchSpec, Trial } from './documents.ts'

/** The method of a trial; each has a folder in kinds/. */
export type TrialKind =
  /** All arms run at the same time, and the load is interleaved between them. */
  | 'cost'
  /** One window under load, or idle. */
  | 'capacity'
  /** Windows under load until a limit is found. */
  | 'search'
  /** A control plane configures many sidecars. */
  | 'rollout'
  /** Sidecars are added to a control plane step by step. */
  | 'growth'

/** The arms and trials that one kind will run. */
export interface Part {
  kind: TrialKind
  arms: Arm[]
  calibrations: Arm[]
  /** Empty if each trial follows from the results before it, as in searches. */
  trials: Trial[]
  rounds: number
}

export interface Plan {
  experiment: string
  /** In the order in which they are run; arms, trials and rounds below are those of all parts. */
  parts: Part[]
  question: string
  /** Files of bench/claims. */
  claims: string[]
  seed: number
  /** The rounds; with a precision: the most rounds. */
  rounds: number
  /** Rounds run until ratios are this precise; absent: the number of rounds is fixed. */
  precision?: { width: number; maxMinutes: number }
  /** The arms of all parts; a search starts from them. */
  arms: Arm[]
  /** Closed loops that are run first, to find the capacity of each plane. */
  calibrations: Arm[]
  /** Rates above this share of the capacity are left out; null: none is. */
  mostOfCapacity: number | null
  search: SearchSpec | null
  /** Arms that this machine cannot run, and why. */
  notMeasured: Manifest['notMeasured']
  trials: Trial[]
  settings: RunSettings
}

/** The axes that an experiment can vary, beside the plane. */
export type AxisName =
  | keyof typeof LOAD_AXES
  | keyof typeof SIDECAR_AXES
  | keyof typeof CONTROL_PLANE_AXES
  | 'cpuLimitCores'
