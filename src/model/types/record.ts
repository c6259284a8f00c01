// Observations of a trial while it runs.
import type { z } from 'zod'
import type * as S from '../schemas.js'
import type { Look, Reading } from './documents.ts'

export type ClosedConnections = z.infer<typeof S.closedConnections>

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

/** The observation of a window; edges are null when it was cut short. */
export interface Observation {
  samples: Sample[]
  start: Edge | null
  end: Edge | null
  /** Looks just after the window, still under load. */
  after: Look[] | null
  /** Bytes that each process received at its own sockets over the window and some tenths of a second; null: not counted. */
  received?: (number | null)[]
  /** Connections whose bytes are not among them; null: not counted. */
  closedConnections?: (ClosedConnections | null)[]
  /** Bytes of these in each pod of a process, in the order of its pods; null: it serves no pods, or they were not counted. */
  receivedByPod?: (number[] | null)[]
  /** How far the observer's clock is from the generator's: only its size counts. */
  clockOffsetMs: number
  /** The processes that ran on the host of the edges, by their place; absent: all. */
  onHost?: number[]
  /** The machine of the load; absent: the load is made on the host of the edges. */
  loadHost?: z.infer<typeof S.loadHostObservation>
}
