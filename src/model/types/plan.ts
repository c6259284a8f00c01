// The plan of a run.
import type { CONTROL_PLANE_AXES } from '../axes/control-plane.js'
import type { LOAD_AXES } from '../axes/load.js'
import type { SIDECAR_AXES } from '../axes/sidecar.js'
import type { Arm, Manifest, RunSettings, SearchSpec, Trial } from './documents.ts'

/**
 * How a trial measures. cost: arms stand at once and get the load interleaved; capacity: a window under load, or idle; search: such
 * windows until a limit is found; rollout: a control plane configures many sidecars; growth: sidecars are added to it
 * step by step. Each has a folder in kinds/.
 */
export type TrialKind = 'cost' | 'capacity' | 'search' | 'rollout' | 'growth'

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
  /** Rounds go on until ratios are this precise; absent: the number of rounds is fixed. */
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
