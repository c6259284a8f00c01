// The nouns of the kit, types only. Units are in the names; addresses are 'a.b.c.d'.
import type { z } from 'zod'
import type { Asking } from '../node/asking.js'
import type { Ledger } from '../node/ledger.js'
import type { createProber } from '../node/prober.js'
import type { CONTROL_PLANE_AXES } from './axes/control-plane.js'
import type { LOAD_AXES } from './axes/load.js'
import type { SIDECAR_AXES } from './axes/sidecar.js'
import type * as S from './schemas.js'

/** One measured quantity over the rounds; low and high are the 95 % interval of the median, or null. */
export type Quantity = z.infer<typeof S.quantity>

/** disabled: plaintext only. */
export type MtlsMode = 'strict' | 'permissive' | 'disabled'
export type Protocol = z.infer<typeof S.protocol>
/** What is spoken between sidecars: nothing but HTTP, or mTLS with certificates of a key type. */
export type Tls = z.infer<typeof S.tls>
export type TrafficPolicy = z.infer<typeof S.trafficPolicy>

// --- What a sidecar does: the neutral model that every data plane renders ---

export interface Endpoint {
  address: string
  port: number
}

/** Where a service is. */
export interface Place {
  /** The address at which others reach it. */
  reach: string
  /** Where it listens for them. */
  listen: string
  /** Where it listens for itself: its application and its sidecar share this address. */
  inside: string
}

export interface Route {
  /** Exact host, without port; null for any. */
  host: string | null
  pathPrefix: string
  /** Header names in lower case, exact values. */
  headers: Record<string, string>
  split: { cluster: string; weight: number }[]
  /** Whose requests it takes, where peers are authorised; absent: anybody's. */
  allowedIdentities?: string[]
  /** Where rates are limited, instead of the limit of all routes (limits.js has what it may be). */
  limitPerSecond?: number
}

export interface Cluster {
  name: string
  endpoints: Endpoint[]
  balancing: 'round-robin' | 'least-requests'
  /** null: plaintext. acceptedIdentities null: any that the authority signed. */
  mtls: { serverName: string; acceptedIdentities: string[] | null } | null
  protocol: Protocol
  /** Where circuits are broken, instead of the limit of all clusters. */
  maxRequests?: number
  /** Where retries have a budget, instead of that of all clusters. */
  retryBudget?: Features['retry-budget']
  /** Where outliers are ejected, instead of the settings of all clusters. */
  ejection?: Features['outlier-ejection']
}

export interface SidecarModel {
  service: string
  /** SPIFFE URI. */
  identity: string
  workers: number
  /** For a plane that counts what it refuses; the others open no such port. */
  admin: Endpoint
  /** Tries again after a refused connection. */
  retries: 0 | 1
  timeouts: { connectSeconds: number; requestSeconds: number; idleSeconds: number }
  tls: { suite: string; group: string }
  /** combinedPath: certificate and key in one file, for a plane that wants them so. */
  trust: { caPath: string; certificatePath: string; keyPath: string; combinedPath: string }
  inbound:
    | (Endpoint & { mtls: MtlsMode; protocol: Protocol; acceptedIdentities: string[] | null; routes: Route[] })
    | null
  outbound: (Endpoint & { routes: Route[] }) | null
  clusters: Cluster[]
  features: Features
}

/** What a sidecar does for a request beyond routing and mTLS; what is absent, it does not do (features.js). */
export interface Features {
  /** A line of JSON on stdout for each request. */
  'access-log'?: { fields: string[] }
  /** Of routes that list identities; others are answered 403. */
  authorization?: Record<string, never>
  /** Of each route; those beyond are answered 429. */
  'rate-limit'?: { perSecond: number }
  /** A counter and a histogram of durations for each route, at the administration port. */
  metrics?: { bucketsMs: number[] }
  /** W3C Trace Context: a trace is passed on, or begun. */
  'trace-headers'?: Record<string, never>
  'header-rewrite'?: Record<'request' | 'response', { set: Record<string, string>; remove: string[] }>
  /** Under way to each cluster at a time; those beyond are answered 503. */
  'circuit-breaker'?: { maxRequests: number }
  /** Retries at a time to each cluster: a share of the requests that are under way, or so many where that is fewer. */
  'retry-budget'?: { share: number; minConcurrent: number }
  /** An endpoint that answers 5xx, or cannot be connected, so often in a row gets no requests for a time; never more than a share of a cluster. */
  'outlier-ejection'?: { consecutiveFailures: number; baseSeconds: number; maxShare: number }
}

export type FeatureName = keyof Features

// --- What runs: plain data that any target can run ---

/** control: hands out configurations to sidecars. */
export type Role = z.infer<typeof S.role>

export interface ProcessSpec {
  service: string
  /** The service that this one is a copy of; absent where it is none. */
  copyOf?: string
  /** So many sidecars, counted together: a batch that the program starts, or 1 of many that are a pod each; absent: it is
   * counted for itself. */
  batchOf?: number
  role: Role
  program: string
  argv: string[]
  env: Record<string, string>
  /** Where its files are before it starts; in a pod it may only read there. It runs where it may write: here, or in a pod in /tmp. */
  folder: string
  files: { name: string; content: string }[]
  /** What else it reads: folders of scripts, and certificates and keys. */
  scripts: string[]
  credentials: string[]
  listens: Endpoint[]
  /** Listening sockets expected on each address. */
  workers: number
  /** null: no cap. */
  cpuCores: number | null
  memoryLimitBytes: number | null
  /** The CPUs it may run on; null: any. */
  cpuSet: number[] | null
  /** Where its counters are to be had, and the path; null: nowhere. */
  admin: (Endpoint & { path: string }) | null
  image: string | null
}

export type Tool = z.infer<typeof S.tool>

/** What makes a program usable; pure, `tools/` runs it. */
export interface ToolSpec {
  name: string
  /** The environment variable that names its path. */
  variable: string
  /** The project's own image that carries it, pinned; null: there is none. */
  image: string | null
  /** The Debian packages that carry it, where the kit does not fetch it. */
  package?: string
  versionArgv: string[]
  /** The version in what it printed, or null. */
  parseVersion(output: string): string | null
  wanted: string
  isAccepted(version: string): boolean
  /** Where runs are not worth much without it: what they lack, and how to get it. */
  ifMissing?: { lack: string; advice: string }
}

export interface SidecarOptions {
  model: SidecarModel
  /** Where its files will be when it runs. */
  folder: string
  tool: Tool
  /** The folder of Pipy scripts to run: the kit's, or a variant's. */
  scripts: string
  /** One of the plane's profiles; null: its first. */
  profile: string | null
  cpuCores: number | null
}

/** One step on the way of a configuration to a sidecar. signal: to the process whose number is in a file of its folder. */
export type ReloadAction =
  | { kind: 'move'; file: string; content: string }
  | { kind: 'signal'; pidFile: string; signal: 'SIGHUP' | 'SIGUSR2' }
  | { kind: 'request'; endpoint: Endpoint; method: string; path: string; body: string }

export interface ControlOptions {
  /** Where it listens. */
  control: Endpoint
  /** The program that it is. */
  controlTool: Tool
  folder: string
  /** The files of the folder of Pipy scripts, by their path in it. */
  scriptFiles: Record<string, string>
}

/** A control plane, which gives sidecars of a plane their configuration: one, or many. Pure. */
export interface Control {
  /** As in `--control`, and in reports behind the plane's name. */
  name: string
  /** The program that it needs; absent: that of its plane. */
  tool?: ToolSpec
  /** Why it cannot configure many with this version of the plane; null or absent: it can. */
  findUnsupported?(version: string): string | null
  /** What it takes: memory of one sidecar with so many routes and workers (its own, not shared), of the control plane for
   * each sidecar, threads of a sidecar, and its inotify instances, by which it watches files. Absent: it
   * configures one alone. */
  needsOf?(asked: { configuredServices: number; workers: number }): {
    sidecarBytes: number
    controlBytes: number
    threads: number
    inotifyInstances: number
  }
  /** null: nothing has to run. */
  createProcess: ((options: ControlOptions) => ProcessSpec) | null
  /** What it is given once. */
  setUp(options: ControlOptions): ReloadAction[]
  /** What it is given for a sidecar before that starts, with its first configuration. */
  enrol(options: SidecarOptions & ControlOptions): ReloadAction[]
  /** A sidecar that has its configuration from there. */
  createSidecar(options: SidecarOptions & ControlOptions): ProcessSpec
  /** What hands the model of the options over, without effect yet. */
  stage(options: SidecarOptions & ControlOptions): ReloadAction[]
  /** What puts it into effect, in so many-th version; 0 is the first configuration. */
  commit(options: SidecarOptions & ControlOptions, version: number): ReloadAction[]
  /** What stands for sidecars that a machine does not hold; absent: nothing does. */
  simulates?: {
    /** Sidecars beyond these are simulated where nobody asks for another number. */
    realMost: number
    /** Memory of one. */
    bytes: number
    /** The process that stands for all of them. To a request for a host it answers as one of them that has a route to it, when
     * all have. everyMs: from one to the next. */
    createProcess(options: ControlOptions & { names: string[]; listen: Endpoint; everyMs: number }): ProcessSpec
  }
  /** What sidecars did not accept, in what its process printed; absent: it is not told. */
  parseRefusals?(log: string): string[]
}

/** A change of configuration under load. */
export type Change = z.infer<typeof S.change>

export interface DataPlane {
  name: string
  /** The program it needs; null for none. */
  tool: ToolSpec | null
  /** A folder of scripts can stand in for its own: `name=./path`. */
  hasVariants: boolean
  /** Named configurations that can be compared, `name:profile`; the first is what `name` alone means. Empty: it has one. */
  profiles: string[]
  /** What of features.js it can be given; absent: nothing. */
  features?: FeatureName[]
  /** Where its administration port tells the metrics of routes, and their names there; absent: it has none. */
  metrics?: { path: string; requests: string; durations: string }
  /** Workers of a sidecar where the experiment asks for no number; null: as many as its cap can use. */
  countWorkers(options: { profile: string | null; cpus: number }): number | null
  /** Why it cannot be given these conditions on so many CPUs; null: it can. */
  findUnsupported(options: {
    conditions: Conditions
    profile?: string | null
    /** Of the sidecar, however they were asked for. */
    sidecarWorkers?: number
    version: string
    cpus: number
  }): string | null
  /** Where it is known to fall short of the corpus: why, by row. Where it does, it is compared with no plane that does not. */
  findLacks?(configuration: { tls: Tls; protocol: Protocol; trafficPolicy: TrafficPolicy }): Record<string, string>
  /** null: this plane has no sidecars. */
  createSidecar: ((options: SidecarOptions) => ProcessSpec) | null
  /** What configures its sidecars while they serve; the first is taken where none is named. Absent: nothing does. */
  controls?: Control[]
  /** Requests that a sidecar answered itself because a limit was reached, in what its admin port says; null: it counts none. */
  parseOverflows: ((text: string) => number) | null
}

// --- Topologies and experiments ---

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

// --- What is recorded: the schemas say what each field is ---

/** What a trial can be used for; a gate spoils some of these. */
export type Use = z.infer<typeof S.use>
/** A check that failed, and the uses it spoils. */
export type GateFinding = z.infer<typeof S.gateFinding>
export type ThreadCpu = z.infer<typeof S.threadCpu>
/** One reading of a group of processes; what a kernel does not offer is null. */
export type Reading = z.infer<typeof S.reading>
export type ProcessMemory = z.infer<typeof S.processMemory>
export type ProcessRecord = z.infer<typeof S.processRecord>
export type Distribution = z.infer<typeof S.distribution>
export type LoadResult = z.infer<typeof S.loadResult>
/** Requests that started in one piece of the window. */
export type LoadPoint = z.infer<typeof S.loadPoint>
export type BoundBy = z.infer<typeof S.boundBy>
export type TrialRecord = z.infer<typeof S.trialSchema>
/** raw/<trial>/rollout.json: when each sidecar had its configurations, and what that took. */
export type RolloutRecord = z.infer<typeof S.rolloutSchema>
/** raw/<trial>/growth.json: the steps by which sidecars were added until one failed, and what ended it. */
export type GrowthRecord = z.infer<typeof S.growthSchema>
export type FailureReason = z.infer<typeof S.failureReason>
/** When a sidecar was first answered by a configuration that it was to have since a moment. */
export type Told = z.infer<typeof S.told>
/** How a process ended that was not stopped, and whether the kernel ended it for memory. */
export type EndedProcess = z.infer<typeof S.endedProcess>

// --- Where it runs and what drives it ---

/** What can be done from beside the services. */
export type Prober = ReturnType<typeof createProber>

/** A process that a target runs. */
export interface Handle {
  spec: ProcessSpec
  /** When it was started, in epoch milliseconds; absent where another machine starts it. */
  startedMs?: number
  /** Of a pod that the kit made itself: its id, and when it was asked for, in epoch milliseconds. */
  pod?: { uid: string; createdMs: number }
  /** Resolves with how it ended. */
  exited: Promise<string>
  /** How it ended; null while it runs. */
  ending(): string | null
  /** Whether the kernel killed it, or a process of it, for memory. */
  isOutOfMemory(): boolean
  /** Whether a process of it is stopped (SIGSTOP) and so does nothing; false where nobody can tell. */
  isStopped(): boolean
  /** How far the clock of its machine is ahead of ours; absent: its machine is that of the services. */
  clockAheadMs?: number
  /** What its administration port answers, at the path of its spec or another; null where it has none. */
  readAdmin(path?: string): Promise<string | null>
  waitUntilReady(signal: AbortSignal): Promise<void>
  /** A sentence with what the kernel knows of why, and the last lines of its log. */
  describeFailure(what: string): Promise<string>
  readLog(): Promise<string>
}

/** What can be read of one process and what belongs to it, where it runs. */
export interface Probe {
  read(): Reading
  readCapCores(): number | null
  readThreads(): ThreadCpu[]
  /** null when it has ended. */
  readMemory(): ProcessMemory | null
  /** The listening sockets that it holds itself, the fewest of its addresses. */
  countListeners(): number
  /** Its processes, each with when it started. */
  identify(): string[]
  /** The CPUs it may run on. */
  readCpuSet(): string
}

/** What is read of a process outside of the window: it costs too much inside. */
export type Look = z.infer<typeof S.look>

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

/** What was seen of a window; edges are null when it was cut short. */
export interface Observation {
  samples: Sample[]
  start: Edge | null
  end: Edge | null
  /** Just after the window, under load still. */
  after: Look[] | null
  /** How far the clock of what observes is from the generator's. */
  clockOffsetMs: number
  /** The processes that ran on the host of the edges, by their place; absent: all. */
  onHost?: number[]
  /** Of the machine of the load, where that is another one than `onHost` is about. */
  loadHost?: z.infer<typeof S.loadHostSeen>
}

/** The plain facts of a process that an observation keeps. */
export type ObservedProcess = z.infer<typeof S.observedProcess>
/** raw/<trial>/observation.json: everything observed of a window but its samples; lists are in the order of `processes`. */
export type ObservationRecord = z.infer<typeof S.observationSchema>
/** manifest.json */
export type Manifest = z.infer<typeof S.manifestSchema>
export type Kit = z.infer<typeof S.kit>
export type ScriptFolder = z.infer<typeof S.scriptFolder>
/** A line of samples.jsonl. */
export type SampleLine = z.infer<typeof S.sampleSchema>

/** Where CPU time and memory are read: the kernel's own files at 10 Hz, or the kubelet's counters with their own time stamps. */
export type SampleSource = z.infer<typeof S.sampleSource>
/** Clock ticks of all CPUs: idle, stolen, busy (without interrupts), all; and how many CPUs that are. */
export type HostCpu = z.infer<typeof S.hostCpu>

export interface Deployment {
  processes: Handle[]
  remove(): Promise<void>
}

/** Where services run. A start is a number that only processes deployed together share. */
export interface Target {
  /** As in `--target` and in the records. */
  name: string
  /** Where a process sees a folder of this machine; the generator may run elsewhere than the services. */
  locate(folder: string, role?: 'generator'): string
  /** The addresses of the services of a start, which no other start has; and that of PROBER, which tries them. The load
   * goes to the entry: it may have the address of another start. */
  placesFor(start: number, services: string[], entry?: string): Promise<Record<string, Place>>
  /** Starts processes, one after the other; their logs go to the folder. Returns before they are ready. On one machine,
   * pace is awaited before each. onStart is told each; on a cluster, each is then a pod that no controller makes. */
  deploy(
    specs: ProcessSpec[],
    at: { start: number; folder: string; pace?: () => Promise<void>; onStart?: (process: Handle) => void },
  ): Promise<Deployment>
  /** Runs a procedure of src/node/prober.js where the services can be reached. */
  call<Name extends keyof Prober>(
    procedure: Name,
    args: Parameters<Prober[Name]>[0],
  ): Promise<Awaited<ReturnType<Prober[Name]>>>
  /** Reads memory, identity and workers, which costs too much inside of a window. */
  look(processes: Handle[]): Promise<Look[]>
  /** Reads processes at 10 Hz up to the end of the window and at its edges; ended early, it returns what it has read.
   * onSample gets each sample at once where this program reads them itself. */
  observe(
    processes: Handle[],
    options: { window: Window; signal: AbortSignal; onSample?: (sample: Sample) => void },
  ): Promise<Observation>
  /** Where each sidecar of a rollout is a pod: where it listens, and who asks it. Absent: they run in batches on the machine
   * of this program, which asks them itself. */
  pods?: { place: Place; openAsking(): Promise<Asking> }
  /** Removes everything; to retain, leaves what runs now. Returns what was left. */
  close(options?: { retain: boolean }): Promise<string[]>
}

/** In epoch milliseconds. */
export type Window = z.infer<typeof S.window>

/** What a machine still has for a run. */
export interface Limits {
  memoryBytes: number
  /** Of what limits them most: in all, and of them those in use. */
  threads: number
  threadsUsed: number
  /** Open files of one process. */
  files: number
  /** For connections from one address to another. */
  ports: number
  /** Of a user: in all, and of them those in use. */
  inotifyInstances: number
  inotifyInstancesUsed: number
}

/** What a node of a cluster offers to pods, and what of it those that run there have requested. */
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
  /** What the run holds on this machine; its folder is where only this user reads. */
  ledger: Ledger
  /** CPUs of a machine that services run on. */
  cpus: number
  /** Facts for the manifest. */
  machine: Record<string, unknown>
  sampleSource: SampleSource
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
  findTool(spec: ToolSpec): Promise<Tool | { missing: string }>
}

/** What is run, as it was found. */
export interface Programs {
  planes: Record<string, DataPlane>
  load: LoadGenerator
  /** By name: of the planes and of the load. */
  tools: Record<string, Tool>
  /** What serves the applications. */
  appRuntime: Tool
}

/** The services of each link, and the CPUs of each arm's processes. */
export interface Layout {
  topologies: Record<string, Topology>
  /** null: its processes share all CPUs. */
  placementOf(arm: Arm): Placement | null
}

export interface LoadOptions {
  /** One, or one of each copy of the first service: users are spread over them. */
  urls: string[]
  /** With which the client speaks mTLS; null: plaintext. */
  certificate: { certificatePath: string; keyPath: string } | null
  host: string
  load: Load
  tailMs: number
  /** Where it may be asked how far it is; null: nowhere. */
  admin: Endpoint | null
  /** CPUs the generator may use. */
  cpus: number
  folder: string
}

export interface LoadGenerator {
  name: string
  tool: ToolSpec
  /** The folder of its scripts, from the root of the kit. */
  scripts: string
  /** Why it cannot make an arm's load; null: it can. */
  findUnsupported(arm: Pick<Arm, 'load' | 'conditions'>): string | null
  /** How many of so many CPUs it can use. */
  countCpus(options: { cpus: number; users: number }): number
  createGenerator(options: LoadOptions & { tool: Tool; scripts: string }): ProcessSpec
  /** The window that the generator says when it starts; null while it has not. */
  parseWindow(log: string): Window | null
  /** The result that the generator printed; null where it printed none. */
  parseResult(log: string): LoadResult | null
  /** How many requests it has made since it started, and how many of them failed; null where it cannot be asked. */
  readProgress(ask: Handle['readAdmin']): Promise<{ requests: number; failed: number } | null>
}

// --- What is reported: summary.json ---

export type Quantiles = z.infer<typeof S.quantiles>
export type SummarySidecar = z.infer<typeof S.summarySidecar>
export type SummaryArm = z.infer<typeof S.summaryArm>
export type Verdict = z.infer<typeof S.verdict>
/** Two planes at the same link, cap and load, in one quantity. */
export type Comparison = z.infer<typeof S.comparison>
export type EstimateCheck = z.infer<typeof S.estimateCheck>
/** How narrow the intervals of a run are that goes on until they are narrow enough. */
export type Precision = z.infer<typeof S.summaryPrecision>
/** A condition on the median ratio of two planes: `pipy/envoy cpuPerRequest <= 0.6`. */
export type ThresholdResult = z.infer<typeof S.thresholdResult>
/** One thing that both planes must do alike, as it was found for each. */
export type ParityRow = z.infer<typeof S.parityRow>
/** One value that a search tried, until it held twice or failed twice. */
export type SearchStep = z.infer<typeof S.searchStep>
/** What a search found for one plane. */
export type SearchResult = z.infer<typeof S.searchResult>
/** What one plane needs for a load. */
export type SizeResult = z.infer<typeof S.sizeResult>
/** CPU of an arm's sidecars over the rate: millicores = base + slope × requests/s, over at least five rates. */
export type CpuLine = z.infer<typeof S.cpuLine>
/** How a quantity moves over the time of a run: the median of the slopes of all pairs of rounds. */
export type Slope = z.infer<typeof S.slope>
/** How a control plane went with more and more sidecars, and a line through its memory. */
export type GrowthFit = z.infer<typeof S.growthFit>
/** What the control plane of so many sidecars needs. */
export type ControlNeed = z.infer<typeof S.controlNeed>
export type Calibration = z.infer<typeof S.calibration>
export type Summary = z.infer<typeof S.summarySchema>

// --- Assignment of items to shards, as arithmetic ---

export type BalanceForm = z.infer<typeof S.balanceForm>
export type BalanceManifest = z.infer<typeof S.balanceManifestSchema>
export type BalanceTrial = z.infer<typeof S.balanceTrialSchema>
export type BalanceSummary = z.infer<typeof S.balanceSummarySchema>
export type BalanceRow = BalanceSummary['rows'][0]
