// Asks the sidecars of a rollout for their configuration, from a place that reaches them.
import type { Endpoint } from './address.ts'
import type { ConfigurationTimes, HostCpu } from './documents.ts'
import type { ReloadAction } from './plane.ts'
import type { Handle } from './process.ts'

/** The answer that is waited for, and its sidecar. */
export interface Expected {
  name: string
  /** Its listener. */
  endpoint: Endpoint
  /** A host that only this configuration routes. */
  host: string
  /** A refused connection is its no. */
  isStarting?: boolean
  /** The start; absent: now. */
  sinceMs?: number
  /** Number of distinct names that must have answered; absent: one. */
  backends?: number
}

/** The cost of asking so far, by the clock of all its times. */
export interface Costs {
  nowMs: number
  host: HostCpu
  ownCpuSeconds: number
}

/** Brings configurations to the control plane of sidecars, and asks these for them. */
export interface Asking {
  /** Asks from the start of the process on; null: its start was not seen before asking ended. */
  expectFirst(process: Handle, expected: Expected): Promise<ConfigurationTimes | null>
  /** Asks from now on until it is answered, or asking ends. */
  expect(expected: Expected): Promise<ConfigurationTimes>
  countWaiting(): number
  giveUp(): void | Promise<void>
  perform(actions: ReloadAction[], signal: AbortSignal): Promise<void>
  readCosts(): Costs | Promise<Costs>
  close(): void
}
