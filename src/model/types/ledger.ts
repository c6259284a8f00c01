// Holdings of a run beside its processes, and the process that owns them.

/**
 * addresses: the first two bytes of a block of loopback addresses, or the address at which a load from another machine
 * arrives; results: the folder; namespace: its name and the cluster's address; netns: the network namespace of the bridge,
 * after which the others are named.
 */
export type HoldingKind = 'cgroup' | 'addresses' | 'namespace' | 'netns' | 'results'

export interface Holding {
  kind: HoldingKind
  name: string
}

/** The process that runs a run. A pid alone is given out again, after a boot or in another container at once. */
export interface Owner {
  pid: number
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
  /** Its services were to stay. */
  isRetained: boolean
  holdings: Holding[]
}

/** The ledger of a run that this process owns. */
export interface Ledger {
  runId: string
  folder: string
  /** Call it before the thing is made. */
  hold(kind: HoldingKind, name: string): void
  /** Call it when the thing is gone. */
  release(kind: HoldingKind, name: string): void
  others(): LedgerEntry[]
  /**
   * Holds a thing that one run at a time may hold; two runs that begin at once both fail. Returns the run that may use it, in
   * words; null: it is held now.
   */
  claim(kind: HoldingKind, name: string): string | null
  /** retain: all stays, until `cleanup` is asked to remove it. */
  close(options?: { retain?: boolean }): void
}
