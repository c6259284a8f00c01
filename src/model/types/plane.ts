// Data planes and control planes. Their functions are pure.

import type { Pipeline } from '../pipeline.js'
import type { Endpoint, MtlsMode } from './address.ts'
import type { Conditions, Protocol, Tls, Tool, TrafficPolicy } from './documents.ts'
import type { ProcessSpec, ToolSpec } from './process.ts'
import type { FeatureName, SidecarModel } from './sidecar.ts'

export interface SidecarOptions {
  model: SidecarModel
  /** The folder of the sidecar's files when it runs. */
  folder: string
  tool: Tool
  /** The folder of Pipy scripts to run: the kit's, or a variant's. */
  scripts: string
  /** One of the plane's profiles; null: its first. */
  profile: string | null
  cpuLimitCores: number | null
  /** The key of the authority of the run's certificates, for a plane whose sidecars have their own keys certified. */
  authorityKeyPath?: string
  /** Its certificate is changed while it serves, and not its routes. */
  isRotated?: boolean
  /** The files of `scripts`, by their path in it, for a profile that runs scripts of others. */
  scriptFiles?: Record<string, string>
  /** The `pipeline.yaml` by which the sidecar is run; absent: it reads the kit's configuration. */
  pipeline?: Pipeline
}

/** A profile as a mesh deploys the plane. Its work may differ from that of other planes: what the corpus finds is reported. */
export interface DeployedProfile {
  /** The mesh whose configuration it is. */
  from: string
  /** Differences from that mesh, a sentence each. */
  deviations: string[]
  /** It takes redirected connections only. */
  isRedirected?: true
  /** One process serves all pods of a node, in place of a sidecar in each. */
  isOfNode?: true
  /** All that it does otherwise in the corpus is declared as lacks of its plane. */
  isHeld?: true
  /** The program that runs a script of the kit, which the profile needs as another process; absent: it needs none. */
  runtime?: ToolSpec
  /**
   * The scripts of that mesh, which the user has. variable: names a folder; folders: those below it to look in; file: one that the
   * right folder has; what: the folder in words, for the advice.
   */
  scripts?: { variable: string; folders: string[]; file: string; what: string }
}

/**
 * One step on the way of a configuration to a sidecar. move: the file is replaced as a whole, in a folder that the sidecar watches;
 * signal: to the process whose pid is in a file of its folder; request: to a control plane, answered below 300.
 */
export type ReloadAction =
  | { kind: 'move'; file: string; content: string }
  | { kind: 'signal'; pidFile: string; signal: 'SIGHUP' | 'SIGUSR2' }
  | { kind: 'request'; endpoint: Endpoint; method: string; path: string; body: string }

/** One step on the way to the end of a sidecar. */
export type EndingStep =
  | { kind: 'wait'; seconds: number }
  | { kind: 'signal'; signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL' }
  | Extract<ReloadAction, { kind: 'request' }>

export interface ControlOptions {
  /** The address at which it listens. */
  control: Endpoint
  controlTool: Tool
  folder: string
  /** The files of the folder of Pipy scripts, by their path in it. */
  scriptFiles: Record<string, string>
}

/** A control plane, which gives one sidecar of a plane, or many, their configuration. */
export interface Control {
  /** The name in `--control`, and behind the plane's name in reports. */
  name: string
  /** The program that it needs; absent: that of its plane. */
  tool?: ToolSpec
  /** Finds why it cannot configure many sidecars with this version of the plane; null or absent: it can. */
  findUnsupported?(version: string): string | null
  /**
   * Estimates what many sidecars need: memory of one sidecar with so many routes and workers (not shared with others), memory of
   * the control plane for each sidecar, threads of a sidecar, and its inotify instances, by which it watches files. Absent: it
   * configures only one sidecar.
   */
  estimateNeeds?(options: { configuredServices: number; workers: number }): {
    sidecarBytes: number
    controlBytes: number
    threads: number
    inotifyInstances: number
  }
  /** null: nothing has to run. */
  createProcess: ((options: ControlOptions) => ProcessSpec) | null
  /** Actions before the first sidecar is enrolled. */
  setUp(options: ControlOptions): ReloadAction[]
  /** Actions that give it a sidecar's first configuration before that starts. */
  enrol(options: SidecarOptions & ControlOptions): ReloadAction[]
  /** Makes the process of a sidecar that gets its configuration from this control plane. */
  createSidecar(options: SidecarOptions & ControlOptions): ProcessSpec
  /** Actions that hand over the model of the options, without effect yet. */
  stage(options: SidecarOptions & ControlOptions): ReloadAction[]
  /** Actions that put it into effect; version 0 is the first configuration. */
  commit(options: SidecarOptions & ControlOptions, version: number): ReloadAction[]
  /** A process that stands for sidecars that a machine does not hold; absent: there is none. */
  simulates?: {
    /** Sidecars beyond this number are simulated by default. */
    realMost: number
    /** Memory of one simulated sidecar. */
    bytes: number
    /**
     * Makes the process that stands for all of them. It answers a request for a host as a sidecar with a route to it would, once
     * all of them have that route. everyMs: from the start of one to that of the next.
     */
    createProcess(options: ControlOptions & { names: string[]; listen: Endpoint; everyMs: number }): ProcessSpec
  }
  /** Finds in the log of its process the configurations that sidecars refused; absent: it logs none. */
  parseRefusals?(log: string): string[]
}

/** The inbound side of a link. */
export interface Entrance {
  /** The mTLS modes of the inbound listeners of the link. */
  modes: MtlsMode[]
  /** The load speaks mTLS to the first sidecar. */
  hasCertificate: boolean
}

/** A row of the corpus in which a plane is known to fall short. */
export interface Lack {
  row: string
  /** The lines of this row, as `npm run parity` prints them, that it is about; absent: all of them. */
  of?: RegExp
  why: string
}

export interface DataPlane {
  name: string
  /** The program that it needs; null: none. */
  tool: ToolSpec | null
  /** A folder of scripts can stand in for its own: `name=./path`. */
  hasVariants: boolean
  /** Folders with a `pipeline.yaml` that it runs: beside its own configuration, or nothing else. Absent: none. */
  pipelines?: 'too' | 'only'
  /** Files and folders of the system that its configuration includes, or its libraries read; absent: none. */
  systemFiles?: string[]
  /** Named configurations that can be compared, `name:profile`; the first is what `name` alone means. Empty: it has one. */
  profiles: string[]
  /** Those of its profiles that are as a mesh deploys it, the first included. */
  deployed?: Record<string, DeployedProfile>
  /** The features of features.js that it can have; absent: none. */
  features?: FeatureName[]
  /** The path of the metrics of routes at its administration port, and their names; absent: it has none. */
  metrics?: { path: string; requests: string; durations: string }
  /**
   * Counts the workers of a sidecar for which the experiment has no number; null: the plane has no number of its own, and a
   * sidecar gets as many as its CPU limit can use.
   */
  countWorkers(options: { profile: string | null; cpus: number; cpuLimitCores?: number | null }): number | null
  /** Finds why it cannot have these conditions on so many CPUs, on a link with this entrance, as a sentence; null: it can. */
  findUnsupported(options: {
    conditions: Conditions
    entrance: Entrance
    profile?: string | null
    /** The workers of the sidecar, whether the experiment or `countWorkers` chose them. */
    sidecarWorkers?: number
    version: string
    /** The TLS library of the program; absent: it is a part of the program. */
    library?: string
    cpus: number
  }): string | null
  /**
   * Lists the parts of the corpus that it is known to fail on links of these modes; there it is compared only with planes that
   * fail the same. Absent: there are none.
   */
  findLacks?(configuration: { tls: Tls; protocol: Protocol; trafficPolicy: TrafficPolicy; modes: MtlsMode[] }): Lack[]
  /** null: this plane has no sidecars. */
  createSidecar: ((options: SidecarOptions) => ProcessSpec) | null
  /** Makes the other processes that a sidecar needs, such as its authority; they are not measured. Absent: it needs none. */
  createCompanions?(options: SidecarOptions): ProcessSpec[]
  /**
   * Finds for how many seconds its sidecars keep a connection, to either side, that carries nothing; timeouts: those of the model.
   * Absent: as long as any load of the kit leaves one idle.
   */
  findIdleSeconds?(options: { profile: string | null; timeouts: SidecarModel['timeouts'] }): number
  /**
   * Makes the processes of a profile that serves all pods of a node: the proxy, whose `pods` these are, and what it needs beside
   * it. folder: of its files. Absent: no profile is of a node.
   */
  createNodeProxy?(pods: SidecarOptions[], folder: string): ProcessSpec[]
  /** Its sidecars make their keys themselves, and have them certified by the authority of the run. */
  isCertified?: true
  /** It carries bytes, whatever applications speak: it renders a model that carries bytes, and is tried with the corpus of bytes. */
  carriesBytesOnly?: true
  /**
   * The port at which its sidecars take bytes from each other in HTTP/2 CONNECT over mTLS (HBONE), whatever the original
   * destination port of a client; they take redirected connections only. Absent: TLS is spoken at the port of the listener.
   */
  tunnelPort?: number
  /**
   * Its sidecars route at the caller alone: the server's forwards to the client's original destination port, at its own address.
   * They take redirected connections only.
   */
  routesAtCaller?: true
  /**
   * The plane's own way to end a sidecar without losing requests: the process that it needs for that, and the steps. After the
   * last the process ends by itself. Absent: it has none but SIGTERM.
   */
  endGracefully?(spec: ProcessSpec): { spec: ProcessSpec; steps: EndingStep[] }
  /** Controls that configure its sidecars while they serve, the default first. Absent: none does. */
  controls?: Control[]
  /** Reads from the text of its admin port how many requests a sidecar answered itself at a limit; null: it counts none. */
  parseOverflows: ((text: string) => number) | null
}
