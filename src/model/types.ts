// The nouns of the kit, types only. Units are in the names; addresses are 'a.b.c.d'.
import type { createProber } from '../node/prober.js'
import type { openWatchers } from '../verbs/watchers.js'

/** One measured quantity over the rounds; low and high are the 95 % interval of the median, or null. */
export interface Quantity {
  median: number | null
  low: number | null
  high: number | null
  values: (number | null)[]
}

/** disabled: plaintext only. */
export type MtlsMode = 'strict' | 'permissive' | 'disabled'
export type Protocol = 'http/1.1' | 'http/2'
/** What is spoken between sidecars: nothing but HTTP, or mTLS with certificates of a key type. */
export type Tls = 'plaintext' | 'ecdsa-p256' | 'rsa-2048'
export type TrafficPolicy = 'listed' | 'open'

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
}

export interface Cluster {
  name: string
  endpoints: Endpoint[]
  balancing: 'round-robin' | 'least-requests'
  /** null: plaintext. acceptedIdentities null: any that the authority signed. */
  mtls: { serverName: string; acceptedIdentities: string[] | null } | null
  protocol: Protocol
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
  trust: { caPath: string; certificatePath: string; keyPath: string }
  inbound:
    | (Endpoint & { mtls: MtlsMode; protocol: Protocol; acceptedIdentities: string[] | null; routes: Route[] })
    | null
  outbound: (Endpoint & { routes: Route[] }) | null
  clusters: Cluster[]
}

// --- What runs: plain data that any target can run ---

/** control: hands out configurations to a sidecar. */
export type Role = 'sidecar' | 'application' | 'generator' | 'control'

export interface ProcessSpec {
  service: string
  /** The service that this one is a copy of; absent where it is none. */
  copyOf?: string
  role: Role
  program: string
  argv: string[]
  env: Record<string, string>
  /** Where it runs, and where its files are before it starts. */
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

export interface Tool {
  name: string
  path: string
  version: string
  sha256: string
  /** How it was found: its variable, PATH, the kit's cache, fetched now, or in an image. */
  source: string
  /** Where it is in an image; absent on this machine. */
  image?: string
}

/** What makes a program usable; pure, `tools/` runs it. */
export interface ToolSpec {
  name: string
  /** The environment variable that names its path. */
  variable: string
  /** The project's own image that carries it, pinned. */
  image: string
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

/** One step on the way of a configuration to a sidecar. */
export type ReloadAction =
  | { kind: 'move'; file: string; content: string }
  | { kind: 'request'; endpoint: Endpoint; method: string; path: string; body: string }

export interface ReloadOptions extends SidecarOptions {
  /** The files of `scripts`, by their path in it. */
  scriptFiles: Record<string, string>
}

/** How a plane takes another configuration while it serves. Pure. */
export interface Reloads {
  /** What hands it out; null: nothing is needed. */
  createControl: ((options: ReloadOptions) => ProcessSpec) | null
  /** What is done before the sidecar starts. */
  setUp(options: ReloadOptions): ReloadAction[]
  createSidecar(options: ReloadOptions): ProcessSpec
  /** What brings it the model of the options, in so many-th version. */
  change(options: ReloadOptions, version: number): ReloadAction[]
}

/** A change of configuration under load. */
export interface Change {
  /** From the start of the window. */
  atSeconds: number
  /** Until a new connection was served by it; null: it was not, up to the end of the window. */
  effectSeconds: number | null
}

export interface DataPlane {
  name: string
  /** The program it needs; null for none. */
  tool: ToolSpec | null
  /** A folder of scripts can stand in for its own: `name=./path`. */
  hasVariants: boolean
  /** Named configurations that can be compared, `name:profile`; the first is what `name` alone means. Empty: it has one. */
  profiles: string[]
  /** Workers of a sidecar where the experiment asks for no number; null: as many as its cap can use. */
  countWorkers(options: { profile: string | null; cpus: number }): number | null
  /** Why it cannot be given these conditions on so many CPUs; null: it can. */
  findUnsupported(options: { conditions: Conditions; version: string; cpus: number }): string | null
  /** null: this plane has no sidecars. */
  createSidecar: ((options: SidecarOptions) => ProcessSpec) | null
  /** How its sidecars take another configuration while they serve; null: they cannot. */
  reloads: Reloads | null
  /** Requests that a sidecar answered itself because a limit was reached, in what its admin port says; null: it counts none. */
  parseOverflows: ((text: string) => number) | null
}

// --- Topologies and experiments ---

export interface Service {
  name: string
  application: 'echo' | 'forward' | null
  calls: string[]
  /** The service that this one is a copy of; absent where it is none. */
  copyOf?: string
}

export interface Topology {
  name: string
  services: Service[]
  entry: { service: string; listener: 'inbound' | 'outbound' }
}

export interface Load {
  /** closed: each user waits for its answer and asks again; open: requests start at a rate, whatever is answered; idle: none. */
  kind: 'closed' | 'open' | 'idle'
  /** Of the closed loop; in the open loop the most requests that may be under way; idle: 0. */
  users: number
  /** Of the open loop; absent in the closed. */
  ratePerSecond?: number
  payloadBytes: number
  /** Whether a user keeps its connection, or makes a new one for every request. */
  connections: 'kept' | 'new'
  /** The client speaks mTLS to the first sidecar, with a certificate of its own, where sidecars speak mTLS. */
  hasCertificate: boolean
  /** Of the open loop: so many times the rate, for so long, a while after the window opens; null: none. */
  burst: { factor: number; beginsSeconds: number; seconds: number } | null
  warmupSeconds: number
  windowSeconds: number
}

export interface PlaneChoice {
  plane: string
  /** The folder of a variant's scripts, or null. */
  variant: string | null
  /** One of the plane's profiles other than its first; null: its first. */
  profile: string | null
}

/** What an arm's services are given beside plane, link, cap and load. */
export interface Conditions {
  /** Copies of the last service of the link, each with a sidecar; callers spread their requests over them. */
  services: number
  tls: Tls
  /** Between sidecars. */
  protocol: Protocol
  /** Worker threads of a sidecar; null: as many as its cap can use. */
  workers: number | null
  /** Services beside those of the link that every sidecar has routes to, and nobody calls. */
  configuredServices: number
  /** Of each sidecar; null: none. */
  memoryLimitBytes: number | null
  /** Configuration changes a minute of the first sidecar while the load runs; null: it cannot be changed at all. */
  changesPerMinute: number | null
}

export interface Arm extends PlaneChoice {
  id: string
  /** The arm that this one repeats to show the noise (A/A), or null. */
  repeatOf: string | null
  /** The closed loop that finds what rates this arm can be asked for; null: none does. */
  calibratedBy: string | null
  hasSidecars: boolean
  link: string
  /** null for none, and for `--cpu none`. */
  capCores: number | null
  load: Load
  conditions: Conditions
}

/** The CPUs that each role has for itself; what hands out configurations shares those of the applications. */
export type Placement = Record<Exclude<Role, 'control'>, number[]>

export interface Trial {
  id: string
  round: number
  arm: Arm
  /** The trial that it runs again, or null. */
  repeats: string | null
  /** The arm whose limit is searched for with it, or null. */
  searchOf: string | null
  /** Where the warm-up was lengthened because the arm's users were cold: its planned length, and whether it is now the longest allowed. */
  warmup?: { plannedSeconds: number; isLongest: boolean }
}

export interface Plan {
  experiment: string
  question: string
  /** Files of bench/claims. */
  claims: string[]
  seed: number
  rounds: number
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
export type SearchSpec = {
  /** Of the bracket: by how much what failed and what held may differ. */ precision: number
} & (
  | { kind: 'knee'; p99Ms: number; startPerSecond: number }
  | { kind: 'memory-floor'; p99Ms: number | null }
  | { kind: 'size'; p99Ms: number; isExtrapolated: boolean }
)

export interface RunSettings {
  profile: string
  trafficPolicy: TrafficPolicy
  app: 'pipy' | 'node'
  /** Give generator, applications and sidecars CPUs of their own where there are enough. */
  isPinned: boolean
  relaxes: Relaxation[]
  /** The services of an arm are started once and stay through all rounds. */
  keepsServices: boolean
  /** What its report shows. */
  shows: Shows
}

/** What an experiment wants to be seen. */
export interface Shows {
  /** Names of src/quantities.js. */
  quantities: string[]
  /** The axis whose values are the columns of the table; null: a row an arm. */
  across: AxisName | null
  /** Axes whose values are compared with the first of them, plane by plane. */
  contrasts: AxisName[]
  /** Whether CPU is fitted as a line over the rate. */
  hasCpuLine: boolean
  /** Whether memory and latency are fitted over the time of the run. */
  hasSlopes: boolean
}

/** What an experiment can vary, beside the plane. */
export type AxisName =
  | 'link'
  | 'capCores'
  | 'ratePerSecond'
  | 'users'
  | 'payloadBytes'
  | 'connections'
  | 'burstSeconds'
  | 'services'
  | 'tls'
  | 'protocol'
  | 'workers'
  | 'configuredServices'
  | 'memoryLimitBytes'
  | 'changesPerMinute'

/** A gate that an experiment sets aside, and why. */
export interface Relaxation {
  gate: string
  why: string
}

// --- What is recorded ---

/** What a trial can be used for; a gate spoils some of these. */
export type Use = 'throughput' | 'capacity' | 'latency' | 'cpuPerRequest' | 'memory'

/** A check that failed, and the uses it spoils. */
export interface GateFinding {
  gate: string
  spoils: Use[]
  reason: string
}

export interface ThreadCpu {
  id: number
  name: string
  cpuSeconds: number
}

/** One reading of a group of processes; what a kernel does not offer is null. */
export interface Reading {
  /** Monotonic clock, halfway through the reading; of the kubelet's counters their own stamp. */
  atSeconds: number
  cpuSeconds: number
  periods: number | null
  throttledPeriods: number | null
  throttledSeconds: number | null
  anonBytes: number | null
  workingSetBytes: number | null
  peakBytes: number | null
  oomKills: number | null
}

export interface ProcessMemory {
  rssBytes: number
  pssBytes: number
}

export interface ProcessRecord {
  service: string
  /** The service that this one is a copy of, or null. */
  copyOf: string | null
  role: Role
  command: string[]
  capCores: number | null
  /** The quota read back from the kernel, the least of its own and its ancestors'; of both edges, the one that is not as asked. */
  capReadBackCores: number | null
  askedWorkers: number
  /** Listening sockets an address; null where nobody could count them. */
  workers: number | null
  /** The CPUs it may run on, as the kernel lists them. */
  cpuSet: string
  /** Whether it is another process, or more of them, than was started. */
  isReplaced: boolean
  /** Requests it answered itself because a limit was reached; null where the plane counts none. */
  overflows: number | null
  files: { name: string; sha256: string }[]
  cpuSeconds: number
  cpuCores: number
  throttledFraction: number | null
  throttledSeconds: number | null
  oomKills: number | null
  /** The busiest thread's share of a core in the window; null where threads were not read. */
  busiestThreadCores: number | null
  threads: ThreadCpu[]
  memory: {
    anonBytes: number | null
    rssBytes: number | null
    workingSetBytes: number | null
    pssBytes: number | null
    peakBytes: number | null
    idleRssBytes: number | null
  }
}

export interface Distribution {
  count: number
  meanMs: number
  /** [quantile, milliseconds], rising. */
  grid: [number, number][]
}

export interface LoadResult {
  /** Requests that started inside of the window and were verified. */
  verified: number
  /** Requests that started inside of the window and were not. */
  failed: number
  /** Bodies or nonces that came back wrong, in the whole trial. */
  corrupted: number
  verifiedInSecondHalf: number
  /** Users that had not done three requests when the window opened. */
  coldUsers: number
  /** Users that went through the whole window; null in the open loop. */
  reportedUsers: number | null
  /** Requests of the open loop that found no free user, in the whole trial; 0 in the closed. */
  dropped: number
  /** How late requests of the open loop started, from a sample of them; null in the closed. */
  lagP99Ms: number | null
  distribution: Distribution | null
  /** Of bursts: the requests that started in each piece of the window; null elsewhere. */
  series: LoadPoint[] | null
  failures: string[]
}

/** Requests that started in one piece of the window. */
export interface LoadPoint {
  /** From the start of the window. */
  atSeconds: number
  seconds: number
  count: number
  p50Ms: number | null
  p99Ms: number | null
}

export type BoundBy = 'sidecar' | 'worker' | 'application' | 'generator' | 'host' | 'users' | 'rate'

export interface TrialRecord {
  schemaVersion: 2
  trial: Trial
  target: string
  startedAt: string
  outcome: 'completed' | 'failed' | 'invalid'
  reasons: string[]
  window: { startMs: number; endMs: number; seconds: number; startLateMs: number; endLateMs: number } | null
  load: LoadResult | null
  processes: ProcessRecord[]
  /** In the window: shares of the machine's CPU time that were idle and stolen, and the cores that others used. */
  host: { cpus: number; idleFraction: number; stealFraction: number; foreignCores: number } | null
  /** The CPUs that each role had for itself; null: all roles shared all CPUs. */
  placement?: Placement | null
  /** CPUs the generator might use. */
  generatorCpus: number
  /** In the window: how many, the longest time without one, and readings with a number missing. */
  samples: {
    count: number
    largestGapSeconds: number
    missing: number
    source: SampleSource
    clockOffsetMs: number
  } | null
  orchestratorCpuSeconds: number | null
  boundBy: BoundBy | null
  isSteady: boolean | null
  gates: GateFinding[]
  /** Changes of configuration in the window; null: none were asked for. */
  changes: Change[] | null
  /** Processes that ended before they were stopped. */
  ended: EndedProcess[]
  /** The run and the trial that it was measured as; absent: here. */
  takenFrom?: string
  phasesSeconds: Record<string, number>
}

/** How a process ended that was not stopped, and whether the kernel ended it for memory. */
export interface EndedProcess {
  service: string
  role: Role
  how: string
  isOutOfMemory: boolean
}

// --- Where it runs and what drives it ---

/** What can be done from beside the services. */
export type Prober = ReturnType<typeof createProber>

/** A process that a target runs. */
export interface Handle {
  spec: ProcessSpec
  /** Resolves with how it ended. */
  exited: Promise<string>
  /** How it ended; null while it runs. */
  ending(): string | null
  /** Whether the kernel killed it, or a process of it, for memory. */
  isOutOfMemory(): boolean
  /** What its administration port answers, at the path of its spec or another; null where it has none. */
  readAdmin(path?: string): Promise<string | null>
  waitUntilReady(signal: AbortSignal): Promise<void>
  /** A sentence with the last lines of its log. */
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
export interface Look {
  memory: ProcessMemory | null
  identity: string[]
  /** null where nobody could count them. */
  workers: number | null
}

/** One moment: the reading of every process, in the order of the processes; and which edge of the window it is, if one. */
export interface Sample {
  epochMs: number
  edge?: 'start' | 'end'
  readings: Reading[]
}

/** Everything at one edge of the window, in the order of the processes. */
export interface Edge {
  sample: Sample
  states: { threads: ThreadCpu[]; capCores: number | null; identity: string[]; cpuSet: string }[]
  host: HostCpu
  /** CPU time of what observes. */
  ownCpuSeconds: number
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
}

/** The plain facts of a process that an observation keeps. */
export interface ObservedProcess
  extends Pick<ProcessRecord, 'service' | 'copyOf' | 'role' | 'command' | 'capCores' | 'askedWorkers' | 'files'> {
  /** As in samples.jsonl. */
  name: string
}

/** raw/<trial>/observation.json: everything observed of a window but its samples; lists are in the order of `processes`. */
export interface ObservationRecord {
  schemaVersion: number
  processes: ObservedProcess[]
  window: Window
  start: Omit<Edge, 'sample'>
  end: Omit<Edge, 'sample'>
  /** Before any load. */
  before: Look[]
  /** Just after the window, under load still. */
  after: Look[]
  /** Requests that sidecars refused; null where the plane counts none. */
  overflows: (number | null)[]
  /** The processes that ran on the host of the edges, by their place; null: all. */
  onHost: number[] | null
  cpus: number
  sampleSource: SampleSource
  clockOffsetMs: number
}

/** Where CPU time and memory are read: the kernel's own files at 10 Hz, or the kubelet's counters with their own time stamps. */
export type SampleSource = 'cgroup' | 'kubelet'

/** Clock ticks of all CPUs: idle, stolen, busy (without interrupts), all; and how many CPUs that are. */
export interface HostCpu {
  idle: number
  steal: number
  busy: number
  total: number
  cpus: number
}

export interface Deployment {
  processes: Handle[]
  remove(): Promise<void>
}

/** Where services run. A start is a number that only processes deployed together share. */
export interface Target {
  /** As in `--target` and in the records. */
  name: string
  /** Where a process sees a folder of this machine. */
  locate(folder: string): string
  /** The addresses of the services of a start, which no other start has; and that of PROBER, which tries them. */
  placesFor(start: number, services: string[]): Promise<Record<string, Place>>
  /** Starts processes; their logs go to the folder. Returns before they are ready. */
  deploy(specs: ProcessSpec[], at: { start: number; folder: string }): Promise<Deployment>
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
  /** Removes everything; to retain, leaves what runs now. Returns what was left. */
  close(options?: { retain: boolean }): Promise<string[]>
}

/** In epoch milliseconds. */
export interface Window {
  startMs: number
  endMs: number
}

/** A target, and what a run needs to know of the machines behind it. */
export interface Site {
  target: Target
  runId: string
  /** CPUs of a machine that services run on. */
  cpus: number
  /** Facts for the manifest. */
  machine: Record<string, unknown>
  sampleSource: SampleSource
  /** The physical cores that can be given out, each a list of its CPUs; empty where they cannot. */
  cores: number[][]
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
  createGenerator(options: LoadOptions & { tool: Tool; scripts: string }): ProcessSpec
  /** The window that the generator says when it starts; null while it has not. */
  parseWindow(log: string): Window | null
  /** The result that the generator printed; null where it printed none. */
  parseResult(log: string): LoadResult | null
  /** How many requests it has made since it started, and how many of them failed; null where it cannot be asked. */
  readProgress(ask: Handle['readAdmin']): Promise<{ requests: number; failed: number } | null>
}

// --- What is reported: summary.json ---

export type Quantiles = Record<'p50' | 'p90' | 'p95' | 'p99' | 'p999', Quantity>

export interface SummarySidecar {
  service: string
  copyOf: string | null
  cpuCores: Quantity
  cpuOfCap: Quantity
  cpuPerRequestMicros: Quantity
  throttledFraction: Quantity
  memory: Record<'anonBytes' | 'rssBytes' | 'workingSetBytes' | 'pssBytes' | 'peakBytes', Quantity>
}

export interface SummaryArm extends PlaneChoice {
  id: string
  repeatOf: string | null
  calibratedBy: string | null
  hasSidecars: boolean
  link: string
  capCores: number | null
  target: string
  load: Load
  conditions: Conditions
  trials: { completed: number; failed: number; invalid: number }
  /** What spoiled something, and in how many trials. */
  spoiled: { gate: string; trials: number; reason: string }[]
  throughputPerSecond: Quantity
  /** The sum over its sidecars; no values for none. */
  cpuPerRequestMicros: Quantity
  /** Where the sidecar bound the run. */
  capacityPerSecond: Quantity
  /** Closed loop: at saturation, no latency. */
  responseTimeMs: Quantiles | null
  /** Open loop. */
  latencyMs: Quantiles | null
  /** Open loop: more than without sidecars at the same rate, round by round. */
  addedLatencyMs: Quantiles | null
  boundBy: BoundBy | null
  /** From the start of the first process to the first answer. */
  startSeconds: Quantity
  /** After a burst, until requests are answered as before; no value where they never were, in the window. */
  recoverySeconds: Quantity
  /** Of configuration changes: the median and the longest time until one took effect; what failed, and the CPU of all
   * sidecars more than without changes, a change. */
  changes: Record<'effectSeconds' | 'effectMostSeconds' | 'failedPerChange' | 'cpuMillisPerChange', Quantity> | null
  sidecars: SummarySidecar[]
}

export type Verdict = 'lower' | 'higher' | 'no-difference-shown' | 'indicative' | 'invalid'

/** Two planes at the same link, cap and load, in one quantity. */
export interface Comparison {
  a: string
  /** Another plane, or the same once more (A/A). */
  b: string
  link: string
  capCores: number | null
  load: Load
  conditions: Conditions
  /** The axis in which the two differ; null: the plane. */
  contrast: AxisName | null
  /** A/A: b is a once more. */
  isControl: boolean
  quantity: string
  /** null: over all sidecars. */
  service: string | null
  /** a over b, round by round. */
  ratio: Quantity
  /** How far an arm was from itself in the same run; null without an A/A pair. */
  aaSpread: number | null
  verdict: Verdict
  reasons: string[]
}

/** A condition on the median ratio of two planes: `pipy/envoy cpuPerRequest <= 0.6`. */
export interface ThresholdResult {
  expression: string
  link: string
  capCores: number | null
  load: Load
  conditions: Conditions
  /** null: spoiled, or not measured. */
  value: number | null
  held: boolean | null
}

/** One thing that both planes must do alike, as it was found for each. */
export interface ParityRow {
  name: string
  plane: string
  link: string
  capCores: number | null
  /** As in the conditions of the arm. */
  workers: number | null
  /** What was found, in words that are equal where the behaviour is. */
  found: string
  /** null: whatever it is, it must be equal; otherwise this. */
  expected: string | null
  differences: string[]
}

/** One value that a search tried, until it held twice or failed twice. */
export interface SearchStep {
  value: number
  /** null: what happened was not the sidecar's doing, or the search was cut short. */
  held: boolean | null
  why: string
  trials: string[]
}

/** What a search found for one plane. */
export interface SearchResult extends PlaneChoice {
  looksFor: 'knee' | 'cpu' | 'memory'
  unit: 'requests/s' | 'cores' | 'bytes'
  link: string
  /** The last that failed and the next that held: the answer lies between; null: none was seen. */
  failed: number | null
  held: number | null
  /** What ended it: why the one failed, or why nothing can be said here. */
  why: string
  isFound: boolean
  steps: SearchStep[]
  /** Of a memory limit: resident file pages that were not charged to the sidecar, and are to be added. */
  unchargedBytes: number | null
}

/** What one plane needs for a load. */
export interface SizeResult extends PlaneChoice {
  cpu: SearchResult
  /** null: not looked for, no CPU limit held. */
  memory: SearchResult | null
  /** Runs with the answer, and with less: each must hold, or must not. */
  checks: { what: string; mustHold: boolean; held: boolean | null; why: string; trials: string[] }[]
  isChecked: boolean
  /** Where nothing held here and it was asked for: by the line of the busiest sidecar's CPU over lower rates. */
  extrapolated: {
    cores: number
    baseMillicores: number
    slopeMillicoresPerRequestPerSecond: number
    points: CpuLine['points']
  } | null
}

/** CPU of an arm's sidecars over the rate: millicores = base + slope × requests/s, over at least five rates. */
export interface CpuLine extends PlaneChoice {
  link: string
  service: string | null
  services: number
  baseMillicores: number
  slopeMillicoresPerRequestPerSecond: number
  points: { ratePerSecond: number; millicores: number; residualMillicores: number }[]
}

/** How a quantity moves over the time of a run: the median of the slopes of all pairs of rounds. */
export interface Slope extends PlaneChoice {
  armId: string
  quantity: string
  perHour: number
  low: number | null
  high: number | null
  rounds: number
}

export interface Calibration {
  armId: string
  ratePerSecond: number | null
  boundBy: BoundBy | null
  trialId: string
}

export interface Summary {
  schemaVersion: 2
  run: { id: string; startedAt: string; experiment: string; seed: number }
  machine: Record<string, unknown>
  tools: Record<string, { version: string; path: string; sha256: string }>
  notMeasured: { plane: string; reason: string }[]
  relaxes: Relaxation[]
  arms: SummaryArm[]
  parity: ParityRow[]
  comparisons: Comparison[]
  thresholds: ThresholdResult[]
  shows: Shows
  lines: CpuLine[]
  slopes: Slope[]
  calibrations: Calibration[]
  searches: SearchResult[]
  sizes: SizeResult[]
}

// --- The command line ---

/** What a verb is given of the command line. */
export interface Context {
  /** The product, on stdout. */
  print: (text: string) => void
  /** Progress, on stderr. */
  say: (line: string) => void
  /** Sets the exit status. */
  end: (status: number) => void
  /** Aborts when the program is interrupted. */
  signal: AbortSignal
  /** Opens who watches a run. */
  watch: (options: Parameters<typeof openWatchers>[0]) => ReturnType<typeof openWatchers>
}
