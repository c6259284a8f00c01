// Load generators.
import type { Endpoint } from './address.ts'
import type { Arm, Load, LoadResult, Tls, Tool, Window } from './documents.ts'
import type { Handle, ProcessSpec, ToolSpec } from './process.ts'

/** The request of a pipeline.yaml, sent instead of the kit's echoed POST, and the answer that counts as success. */
export interface OwnRequest {
  method: string
  headers: Record<string, string>
  body: string
  /** Status of the answer. */
  status: number
  /** Bytes of the answer. */
  bytes: number
}

export interface LoadOptions {
  /** Absent: the requests are those of `load`. */
  request?: OwnRequest
  /** URLs of the first service's copies: users are spread over them. */
  urls: string[]
  /** Identity with which the client speaks mTLS; null: plaintext. */
  certificate: { certificatePath: string; keyPath: string } | null
  /** The TLS that the client speaks if it has a certificate; absent: plaintext. */
  tls?: Tls
  /** URLs and load of each interleaved arm; absent: there is one arm. */
  arms?: { urls: string[]; load: Load; request?: OwnRequest }[]
  /** Seed of the order in which interleaved arms get the load; absent: 0. */
  seed?: number
  /** The Host header; empty: that of the URL. */
  host: string
  load: Load
  /** For how long the load continues after the window. */
  tailMs: number
  /** The address of the generator's API, which has its progress; null: it has none. */
  admin: Endpoint | null
  cpus: number
  folder: string
}

export interface LoadGenerator {
  name: string
  tool: ToolSpec
  /** The folder of its scripts, from the root of the kit. */
  scripts: string
  /** Finds why it cannot make an arm's load; null: it can. */
  findUnsupported(arm: Pick<Arm, 'load' | 'conditions'>): string | null
  /** Returns how many of so many CPUs it can use. */
  countCpus(options: { cpus: number; users: number }): number
  /** Creates its process. Throws BenchError if its requests are larger than a process can be given. */
  createGenerator(options: LoadOptions & { tool: Tool; scripts: string }): ProcessSpec
  /** Reads the window, in epoch milliseconds, that the generator logs when it starts; null: it has not logged it yet. */
  parseWindow(log: string): Window | null
  /** Reads the result that the generator printed; place: of one of interleaved arms. null: it printed none. Throws if it is damaged. */
  parseResult(log: string, place?: number): LoadResult | null
  /**
   * Reads the requests since it started, and how many of them failed; null: it has sent none yet, or has no API. Rejects if the
   * API cannot be reached, or answers no JSON.
   */
  readProgress(readAdmin: Handle['readAdmin']): Promise<{ requests: number; failed: number } | null>
}
