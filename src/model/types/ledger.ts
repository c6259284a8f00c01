// Holdings of a run beside its processes, and the process that owns them.

export type HoldingKind =
  | 'cgroup'
  /** The first two bytes of a block of loopback addresses, or the address at which a load from another machine arrives. */
  | 'addresses'
  /** The name of a namespace of Kubernetes and the address of its cluster. */
  | 'namespace'
  /** The network namespace of the bridge, after which the others are named. */
  | 'netns'
  /** The folder of results. */
  | 'results'

export interface Holding {
  kind: HoldingKind
  name: string
}

/** The process that a run belongs to. A pid does not identify it: after a boot, and in another container, another process has it. */
export interface Owner {
  pid: number
  /** When it started, in clock ticks since boot; null: it had ended. */
  startTicks: number | null
  pidNamespace: string
  bootId: string
  command: string[]
}

export interface LedgerEntry {
  runId: string
  folder: string
  /** null: the file is damaged. */
  owner: Owner | null
  /** The state of the owner; unknown: it may live in another container. */
  state: 'alive' | 'gone' | 'unknown'
  /** The run left its services running on purpose (--retain). */
  isRetained: boolean
  holdings: Holding[]
}

/** The ledger of a run that this process owns. */
export interface Ledger {
  runId: string
  folder: string
  /** Records a holding; call it before the thing is made. Throws the system's error if it cannot be written. */
  hold(kind: HoldingKind, name: string): void
  /** Strikes a holding; call it when the thing is gone. An error of writing is ignored. */
  release(kind: HoldingKind, name: string): void
  /** The other runs of this user on this machine. */
  others(): LedgerEntry[]
  /**
   * Holds a thing that one run at a time may hold. Returns in words the run that holds it, or may hold it; null: this run holds
   * it. Two runs that begin at the same time may both be refused. Throws as `hold`.
   */
  claim(kind: HoldingKind, name: string): string | null
  /** Removes the ledger, unless something is still held. retain: keeps it, by which `cleanup` finds what was left running. */
  close(options?: { retain?: boolean }): void
}
