// The nouns of the kit, types only. Units are in the names; addresses are 'a.b.c.d'.

/** One measured quantity over the rounds; low and high are the 95 % interval of the median, or null. */
export interface Quantity {
  median: number | null
  low: number | null
  high: number | null
  values: (number | null)[]
}

export type MtlsMode = 'strict' | 'permissive'
export type TrafficPolicy = 'listed' | 'open'
export type EnvoyProfile = 'lean' | 'osm-1.1'

// --- What a sidecar does: the neutral model that every data plane renders ---

export interface Endpoint {
  address: string
  port: number
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
}

export interface SidecarModel {
  service: string
  /** SPIFFE URI. */
  identity: string
  workers: number
  /** Tries again after a refused connection. */
  retries: 0 | 1
  timeouts: { connectSeconds: number; requestSeconds: number; idleSeconds: number }
  tls: { suite: string; group: string }
  trust: { caPath: string; certificatePath: string; keyPath: string }
  inbound: (Endpoint & { mtls: MtlsMode; acceptedIdentities: string[] | null; routes: Route[] }) | null
  outbound: (Endpoint & { routes: Route[] }) | null
  clusters: Cluster[]
}

// --- What runs: plain data that any target can run ---

export type Role = 'sidecar' | 'application' | 'generator'

export interface ProcessSpec {
  service: string
  role: Role
  program: string
  argv: string[]
  env: Record<string, string>
  /** Where it runs, and where its files are written before it starts. */
  folder: string
  files: { name: string; content: string }[]
  listens: Endpoint[]
  /** Listening sockets expected on each address. */
  workers: number
  /** null: no cap. */
  cpuCores: number | null
  memoryLimitBytes: number | null
  image: string | null
}

export interface Tool {
  name: string
  path: string
  version: string
  sha256: string
  /** How it was found: its variable, PATH, the kit's cache, or fetched now. */
  source: string
}

/** What makes a program usable; pure, `tools/` runs it. */
export interface ToolSpec {
  name: string
  /** The environment variable that names its path. */
  variable: string
  versionArgv: string[]
  /** The version in what it printed, or null. */
  parseVersion(output: string): string | null
  wanted: string
  isAccepted(version: string): boolean
}

export interface SidecarOptions {
  model: SidecarModel
  /** Where its files will be when it runs. */
  folder: string
  tool: Tool
  /** The folder of Pipy scripts to run: the kit's, or a variant's. */
  scripts: string
  envoyProfile: EnvoyProfile
  nodeCpus: number
  cpuCores: number | null
}

export interface DataPlane {
  name: string
  /** The program it needs; null for none. */
  tool: ToolSpec | null
  /** A folder of scripts can stand in for its own: `name=./path`. */
  hasVariants: boolean
  /** null: this plane has no sidecars. */
  createSidecar: ((options: SidecarOptions) => ProcessSpec) | null
}

// --- Topologies and experiments ---

export interface Service {
  name: string
  application: 'echo' | 'forward' | null
  calls: string[]
}

export interface Topology {
  name: string
  services: Service[]
  entry: { service: string; listener: 'inbound' | 'outbound' }
}

export interface Load {
  kind: 'closed'
  users: number
  payloadBytes: number
  warmupSeconds: number
  windowSeconds: number
}

export interface PlaneChoice {
  plane: string
  /** The folder of a variant's scripts, or null. */
  variant: string | null
}

export interface Arm extends PlaneChoice {
  id: string
  link: string
  /** null for none, and for `--cpu none`. */
  capCores: number | null
  load: Load
}

export interface Trial {
  id: string
  round: number
  arm: Arm
  /** The trial that it runs again, or null. */
  repeats: string | null
}

export interface Plan {
  experiment: string
  seed: number
  rounds: number
  arms: Arm[]
  /** Arms that this machine cannot run, and why. */
  notMeasured: { plane: string; reason: string }[]
  trials: Trial[]
  settings: RunSettings
}

export interface RunSettings {
  profile: string
  trafficPolicy: TrafficPolicy
  envoyProfile: EnvoyProfile
  app: 'pipy' | 'node'
}

// --- What is recorded ---

export interface ThreadCpu {
  id: number
  name: string
  cpuSeconds: number
}

/** One reading of a group of processes; what a kernel does not offer is null. */
export interface Reading {
  /** Monotonic clock, halfway through the reading. */
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
  role: Role
  command: string[]
  capCores: number | null
  /** The quota read back from the kernel, the least of its own and its ancestors'. */
  capReadBackCores: number | null
  workers: number | null
  cpuSeconds: number
  cpuCores: number
  throttledFraction: number | null
  throttledSeconds: number | null
  oomKills: number | null
  /** The busiest thread's share of a core in the window. */
  busiestThreadCores: number
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
  /** Users that went through the whole window. */
  reportedUsers: number
  distribution: Distribution | null
  failures: string[]
}

export type BoundBy = 'sidecar' | 'worker' | 'application' | 'generator' | 'host' | 'users' | 'rate'

export interface TrialRecord {
  schemaVersion: 1
  trial: Trial
  target: string
  startedAt: string
  outcome: 'completed' | 'failed' | 'invalid'
  reasons: string[]
  window: { startMs: number; endMs: number; seconds: number; startLateMs: number; endLateMs: number } | null
  load: LoadResult | null
  processes: ProcessRecord[]
  /** Share of the machine's CPU time that was idle, and stolen, in the window. */
  host: { idleFraction: number; stealFraction: number } | null
  orchestratorCpuSeconds: number | null
  boundBy: BoundBy | null
  isSteady: boolean | null
  phasesSeconds: Record<string, number>
}

// --- Where it runs and what drives it ---

/** A process that a target runs. */
export interface Handle {
  spec: ProcessSpec
  /** Resolves with how it ended. */
  exited: Promise<string>
  /** How it ended; null while it runs. */
  ending(): string | null
  read(): Reading
  readCapCores(): number | null
  readThreads(): ThreadCpu[]
  /** null when it has ended. */
  readMemory(): ProcessMemory | null
  /** The listening sockets that it holds itself, the fewest of its addresses. */
  countListeners(): number
  waitUntilReady(signal: AbortSignal): Promise<void>
  /** A sentence with the last lines of its log. */
  failureMessage(what: string): string
  readLog(): Promise<string>
  readFile(file: string): Promise<string>
}

export interface Deployment {
  processes: Handle[]
  remove(): Promise<void>
}

export interface Target {
  name: string
  addressesFor(trialIndex: number, services: string[]): Record<string, string>
  deploy(specs: ProcessSpec[], folder: string): Promise<Deployment>
  /** Leaves what runs now, and says what. */
  retain(): string[]
  close(): Promise<void>
}

export interface LoadOptions {
  url: string
  host: string
  load: Load
  tailMs: number
  /** CPUs the generator may use. */
  cpus: number
  folder: string
}

export interface LoadGenerator {
  name: string
  tool: ToolSpec
  createGenerator(options: LoadOptions & { tool: Tool; scripts: string }): ProcessSpec
  /** The window that the generator says when it starts; null while it has not. */
  parseWindow(log: string): { startMs: number; endMs: number } | null
  /** The result in the summary that the generator wrote. */
  parseSummary(text: string, log: string): LoadResult
}

// --- What is reported: summary.json ---

export type Quantiles = Record<'p50' | 'p90' | 'p95' | 'p99' | 'p999', Quantity>

export interface SummarySidecar {
  service: string
  cpuCores: Quantity
  cpuOfCap: Quantity
  cpuPerRequestMicros: Quantity
  throttledFraction: Quantity
  memory: Record<'anonBytes' | 'rssBytes' | 'workingSetBytes' | 'pssBytes' | 'peakBytes', Quantity>
}

export interface SummaryArm extends PlaneChoice {
  id: string
  link: string
  capCores: number | null
  target: string
  load: Load
  trials: { completed: number; failed: number; invalid: number }
  throughputPerSecond: Quantity
  /** The sum over its sidecars; no values for none. */
  cpuPerRequestMicros: Quantity
  responseTimeMs: Quantiles | null
  latencyMs: Quantiles | null
  boundBy: BoundBy | null
  sidecars: SummarySidecar[]
}

export interface Summary {
  schemaVersion: 1
  run: { id: string; startedAt: string; experiment: string; seed: number }
  machine: Record<string, unknown>
  tools: Record<string, { version: string; path: string; sha256: string }>
  notMeasured: { plane: string; reason: string }[]
  arms: SummaryArm[]
}
