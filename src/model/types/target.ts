// Targets, on which services run.

import type { Pipeline } from '../pipeline.js'
import type { Endpoint, Place } from './address.ts'
import type * as D from './documents.ts'
import type { Ledger } from './ledger.ts'
import type { LoadGenerator } from './load.ts'
import type { DataPlane } from './plane.ts'
import type { Handle, ProcessSpec, ToolSpec } from './process.ts'
import type { Observation, Sample } from './record.ts'
import type { RolloutPoller } from './rollout-poller.ts'

/** The procedures that run beside the services; src/agent/procedures.ts adds them. */
// biome-ignore lint/suspicious/noEmptyInterface: its members are added there
export interface Prober {}

/** Reads one process and those that belong to it, on their machine. Lists are empty when it has ended. */
export interface Probe {
  read(): D.Reading
  /** The quota in force, its own or that of an ancestor; null: none. */
  readCpuLimitCores(): number | null
  readThreads(): D.ThreadCpu[]
  /** The CPU time of each of its processes as the process itself counts it, also of one that has left the group. */
  readUsage(): D.ProcessUsage[]
  /** The groups that one of its processes is not in, in words. */
  listOutside(): string[]
  /** null when it has ended. */
  readMemory(): D.ProcessMemory | null
  /** Counts its listening sockets on each address of its spec, and returns the fewest; 0 also: its spec has no address. */
  countListeners(): number
  /** Lists the addresses at which it listens; `*` is the wildcard address. */
  listListening(): Endpoint[]
  /** Counts its established connections; listEstablished: lists the sockets of a process's network namespace. */
  countConnections(listEstablished: (pid: number) => string[]): number
  /** Lists its processes, each with its start in clock ticks since boot. */
  identify(): string[]
  readCpuSet(): string
}

export interface Deployment {
  processes: Handle[]
  remove(): Promise<void>
}

/** A target runs services. A start is a number that only processes deployed together share. */
export interface Target {
  /** The name in `--target` and in the records. */
  name: string
  /** Finds the path of a folder of this machine as a process sees it; the generator may run elsewhere than the services. */
  locate(folder: string, role?: 'generator'): string
  /**
   * Allocates the addresses of the services of a start, which no other start has; also that of PROBER, which tries them, and on one
   * machine that of GENERATOR. The load goes to the entry: it may have the address of another start. hasNamespaces: each service
   * of this start has a network namespace.
   */
  placesFor(
    start: number,
    services: string[],
    options?: { entry?: string; hasNamespaces?: boolean },
  ): Promise<Record<string, Place>>
  /**
   * Starts processes, one after the other; their logs go to the folder. Returns before they are ready; if one does not start,
   * removes all and throws. On one machine, pace is awaited before each. onStart gets each; on a cluster, it makes each a pod
   * that no controller makes.
   */
  deploy(
    specs: ProcessSpec[],
    at: { start: number; folder: string; pace?: () => Promise<void>; onStart?: (process: Handle) => void },
  ): Promise<Deployment>
  /** Rigs of the equal-work check that may stand at the same time; absent: one. */
  rigsMost?: number
  /** Runs a procedure of src/node/prober.js in a place that reaches the services. */
  call<Name extends keyof Prober>(
    procedure: Name,
    args: Parameters<Prober[Name]>[0],
    options?: {
      /** The number of the rig, if several stand at the same time; by default 0. */
      rig?: number
      /** Ends the procedures that take a signal (`stream`); the call then rejects. The others continue. */
      signal?: AbortSignal
    },
  ): Promise<Awaited<ReturnType<Prober[Name]>>>
  /** Reads memory, identity, workers and connections, which costs too much inside of a window. */
  look(processes: Handle[]): Promise<D.Look[]>
  /**
   * Reads processes at 10 Hz up to the end of the window and at its edges; if the signal ends it early, returns what it has
   * read. onSample gets each sample at once if this program reads them itself.
   */
  observe(
    processes: Handle[],
    options: { window: D.Window; signal: AbortSignal; onSample?: (sample: Sample) => void },
  ): Promise<Observation>
  /**
   * The place of a pod that is a sidecar of a rollout, and the poller that reaches it. Absent: sidecars run in batches on the
   * machine of this program, which polls them itself.
   */
  pods?: { place: Place; openRolloutPoller(): Promise<RolloutPoller> }
  /** Removes everything; retain: leaves what runs. Returns the names of the processes that were left. */
  close(options?: { retain: boolean }): Promise<string[]>
}

/** The room that a machine has for a run. */
export interface Limits {
  memoryBytes: number
  /** All that the tightest limit allows, and those in use. */
  threads: number
  threadsUsed: number
  /** Open files of one process. */
  files: number
  /** Ports for connections from one address to another. */
  ports: number
  /** Those of the user: all, and those in use. */
  inotifyInstances: number
  inotifyInstancesUsed: number
  /** The least CPU quota of this job or container, and the folder of the cgroup that has it; absent or null: none is visible. */
  quota?: { cores: number; folder: string } | null
}

/** A node's allocatable resources, and what its pods have requested of them. */
export interface NodeLimits {
  node: string
  pods: number
  podsUsed: number
  memoryBytes: number
  memoryRequestedBytes: number
  cpus: number
  cpusRequested: number
}

/** A target, and the facts about its machines that a run needs. */
export interface Site {
  target: Target
  runId: string
  /** The ledger of what the run holds on this machine; only this user reads its folder. */
  ledger: Ledger
  /** CPUs of a machine that services run on. */
  cpus: number
  /** Facts about the machine for the manifest. */
  machine: Record<string, unknown>
  sampleSource: D.SampleSource
  /** Absent: services run on other machines. */
  limits?: Limits | NodeLimits
  /** The physical cores to which processes can be pinned, each a list of its CPUs; empty: none can. */
  cores: number[][]
  /** The machine of the load, where `--load-host` names another; its CPUs are all the generator's. */
  loadHost?: {
    cpus: number
    /** Makes a moment of load from there to each port; throws if none comes through. */
    rehearse(ports: number[]): Promise<void>
  }
  /** Throws if the conditions have CPU requests or a quota of pods, and these cannot be set here. */
  assertCpuSettings(conditions: D.Conditions[]): void
  /** Throws if connections cannot be redirected to sidecars here. */
  assertInterception(): Promise<void>
  /** Finds a program of the services; missing: why there is none, and what to do. */
  findTool(spec: ToolSpec): Promise<D.Tool | { missing: string }>
}

/** The programs of a run, as they were found. */
export interface Programs {
  planes: Record<string, DataPlane>
  load: LoadGenerator
  /** Keys are names of programs; for the program of a variant, `createVariantKey` makes it. */
  tools: Record<string, D.Tool>
  /** The program that serves the applications. */
  appRuntime: D.Tool
  /** The folders of scripts that profiles run, by `plane:profile`. */
  scripts?: Record<string, string>
  /** The `pipeline.yaml` of variants that have one, by variant. */
  pipelines?: Record<string, Pipeline>
}

/** The services of each link, and the CPUs of each arm's processes. */
export interface Layout {
  topologies: Record<string, D.Topology>
  /** null: its processes share all CPUs. */
  placementOf(arm: D.Arm): D.Placement | null
}
