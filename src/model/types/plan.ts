// Topologies, experiments, and the plan of a run.
import type { z } from 'zod'
import type { CONTROL_PLANE_AXES } from '../axes/control-plane.js'
import type { LOAD_AXES } from '../axes/load.js'
import type { SIDECAR_AXES } from '../axes/sidecar.js'
import type { TrialKind } from '../kinds.js'
import type * as S from '../schemas.js'

export type Service = z.infer<typeof S.service>
export type Topology = z.infer<typeof S.topology>
export type Load = z.infer<typeof S.load>
export type PlaneChoice = z.infer<typeof S.planeChoice>
/** What an arm's services are given beside plane, link, cap and load. */
export type Conditions = z.infer<typeof S.conditions>
export type Arm = z.infer<typeof S.arm>
/** The CPUs that each role has for itself; what hands out configurations shares those of the applications. */
export type Placement = z.infer<typeof S.placement>
export type Trial = z.infer<typeof S.trial>

export interface Plan {
  experiment: string
  /** Of its trials, in the order in which they are run. */
  kinds: TrialKind[]
  question: string
  /** Files of bench/claims. */
  claims: string[]
  seed: number
  /** With a precision: the most. */
  rounds: number
  /** What the rounds go on for; absent: their number is fixed. */
  precision?: { width: number; maxMinutes: number }
  /** Of a search: what it starts from. */
  arms: Arm[]
  /** Closed loops that are run first: rates above a share of what they reach are left out. */
  calibrations: Arm[]
  mostOfCapacity: number | null
  search: SearchSpec | null
  /** Arms that this machine cannot run, and why. */
  notMeasured: { plane: string; reason: string }[]
  trials: Trial[]
  settings: RunSettings
}

/** What is looked for, trial after trial. */
export type SearchSpec = z.infer<typeof S.searchSpec>
export type RunSettings = z.infer<typeof S.settings>
/** What an experiment wants to be seen. */
export type Shows = z.infer<typeof S.shows>
/** What an experiment can vary, beside the plane. */
export type AxisName = keyof typeof LOAD_AXES | keyof typeof SIDECAR_AXES | keyof typeof CONTROL_PLANE_AXES | 'capCores'
/** A gate that an experiment sets aside, and why. */
export type Relaxation = z.infer<typeof S.relaxation>
