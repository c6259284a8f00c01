// Polls the sidecars of a rollout or a growth until they have a configuration, from a place that reaches them.
import type { Endpoint } from './address.ts'
import type { ConfigurationTimes, HostCpu } from './documents.ts'
import type { ReloadAction } from './plane.ts'
import type { Handle } from './process.ts'

/** A sidecar, and the configuration for which it is polled until it answers by it. */
export interface Expected {
  name: string
  /** Its listener. */
  endpoint: Endpoint
  /** A host that only this configuration routes. */
  host: string
  /** The sidecar is starting: a refused connection counts as a no. */
  isStarting?: boolean
  /** Epoch milliseconds from which its time counts; absent: from the call of `expect` on. */
  sinceMs?: number
  /** Number of applications with distinct names that must have answered; absent: one. */
  backends?: number
}

/** The cost of polling so far. */
export interface Costs {
  /** Epoch milliseconds, by the clock of all times of this poller. */
  nowMs: number
  host: HostCpu
  /** CPU time of the process that polls, since its start. */
  ownCpuSeconds: number
}

/** Brings configurations to a control plane, and polls its sidecars until they have them. */
export interface RolloutPoller {
  /** Polls a sidecar that is starting; its time counts from its start. Resolves to null if a pod was not seen to start before `giveUp`. */
  expectFirst(process: Handle, expected: Expected): Promise<ConfigurationTimes | null>
  /** Polls until the sidecar has its configuration; after `giveUp` or `close`, yesMs is null. */
  expect(expected: Expected): Promise<ConfigurationTimes>
  /** Counts the calls of `expect` and `expectFirst` that have not resolved. */
  countWaiting(): number
  /** Resolves all calls that still wait. */
  giveUp(): void | Promise<void>
  /** Performs actions one after the other; rejects if one fails, or the signal is aborted. */
  perform(actions: ReloadAction[], signal: AbortSignal): Promise<void>
  readCosts(): Costs | Promise<Costs>
  /** Ends polling, as `giveUp` does, and closes its connections. */
  close(): void
}
