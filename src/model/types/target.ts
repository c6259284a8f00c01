// Targets, on which services run.

import type { Pipeline } from '../pipeline.js'
import type { Endpoint, Place } from './address.ts'
import type { Asking } from './asking.ts'
import type * as D from './documents.ts'
import type { Ledger } from './ledger.ts'
import type { LoadGenerator } from './load.ts'
import type { DataPlane } from './plane.ts'
import type { Handle, ProcessSpec, ToolSpec } from './process.ts'
import type { Observation, Sample } from './record.ts'

/** The procedures that run beside the services; src/node/procedures.ts adds them. */
// biome-ignore lint/suspicious/noEmptyInterface: its members are added there
export interface Prober {}

/** Reads one process and those that belong to it, on their machine. */
export interface Probe {
  read(): D.Reading
  readCpuLimitCores(): number | null
  readThreads(): D.ThreadCpu[]
  /** The CPU time of each of its processes as the process itself counts it, also of one that has left the group. */
  readUsage(): D.ProcessUsage[]
  /** The groups that one of its processes is not in, in words. */
  listOutside(): string[]
  /** null when it has ended. */
  readMemory(): D.ProcessMemory | null
  /** The listening sockets that it holds itself, the fewest of its addresses. */
  countListeners(): number
  /** The addresses at which it listens; `*` is the wildcard address. */
  listListening(): Endpoint[]
  /** The established connections that it holds; listEstablished: the sockets of a process's network namespace. */
  countConnections(listEstablished: (pid: number) => string[]): number
  /** Its processes, each with when it started. */
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
  /** The path of a folder of this machine for a process; the generator may run elsewhere than the services. */
  locate(folder: string, role?: 'generator'): string
  /**
   * The addresses of the services of a start, which no other start has; and that of PROBER, which tries them. The load
   * goes to the entry: it may have the address of another start. hasNamespaces: each service of this start has a network
   * namespace.
   */
  placesFor(
    start: number,
    services: string[],
    options?: { entry?: string; hasNamespaces?: boolean },
  ): Promise<Record<string, Place>>
  /**
   * Starts processes, one after the other; their logs go to the folder. Returns before they are ready. On one machine,
   * pace is awaited before each. onStart is told each; on a cluster, each is then a pod that no controller makes.
   */
  deploy(
    specs: ProcessSpec[],
    at: { start: number; folder: string; pace?: () => Promise<void>; onStart?: (process: Handle) => void },
  ): Promise<Deployment>
  /** Rigs of the equal-work check that may stand at the same time; absent: one. */
  rigsMost?: number
  /** Runs a procedure of src/node/prober.js where the services can be reached; rig: the number of the rig, where several stand at once. */
  call<Name extends keyof Prober>(
    procedure: Name,
    args: Parameters<Prober[Name]>[0],
    rig?: number,
  ): Promise<Awaited<ReturnType<Prober[Name]>>>
  /** Reads memory, identity and workers, which costs too much inside of a window. */
  look(processes: Handle[]): Promise<D.Look[]>
  /**
   * Reads processes at 10 Hz up to the end of the window and at its edges; ended early, it returns what it has read.
   * onSample gets each sample at once where this program reads them itself.
   */
  observe(
    processes: Handle[],
    options: { window: D.Window; signal: AbortSignal; onSample?: (sample: Sample) => void },
  ): Promise<Observation>
  /**
   * The place of a pod that is a sidecar of a rollout, and what asks it. Absent: sidecars run in batches on the machine
   * of this program, which asks them itself.
   */
  pods?: { place: Place; openAsking(): Promise<Asking> }
  /** Removes everything; to retain, leaves what runs now. Returns what was left. */
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
  /** The least CPU quota of this job or container, and the group that has it; absent or null: none is visible. */
  quota?: { cores: number; folder: string } | null
}

/** A node's offer to pods, and what its pods have requested of it. */
export interface NodeLimits {
  node: string
  pods: number
  podsUsed: number
  memoryBytes: number
  memoryRequestedBytes: number
  cpus: number
  cpusRequested: number
}

/** A target, and what a run needs to know of the machines behind it. */
export interface Site {
  target: Target
  runId: string
  /** The ledger of what the run holds on this machine; only this user reads its folder. */
  ledger: Ledger
  /** CPUs of a machine that services run on. */
  cpus: number
  /** Facts for the manifest. */
  machine: Record<string, unknown>
  sampleSource: D.SampleSource
  /** Absent: services run on other machines. */
  limits?: Limits | NodeLimits
  /** The physical cores that can be given out, each a list of its CPUs; empty where they cannot. */
  cores: number[][]
  /** The machine of the load, where `--load-host` names another; its CPUs are all the generator's. */
  loadHost?: {
    cpus: number
    /** Has the generator make a moment of load from there, at each port; throws where none comes through. */
    rehearse(ports: number[]): Promise<void>
  }
  /** Throws where CPU requests, or one quota for a pod, cannot be set here. */
  assertCpuSettings(conditions: D.Conditions[]): void
  /** Throws where connections cannot be redirected to sidecars here. */
  assertInterception(): Promise<void>
  findTool(spec: ToolSpec): Promise<D.Tool | { missing: string }>
}

/** The programs of a run, as they were found. */
export interface Programs {
  planes: Record<string, DataPlane>
  load: LoadGenerator
  /** Keys are names of planes and of the load. */
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
