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
  /** Bytes of the answer's body. */
  bytes: number
}

export interface LoadOptions {
  /** The request that all users send; absent: the requests are those of `load`. */
  request?: OwnRequest
  /** URLs of the first service's copies: users are spread over them. */
  urls: string[]
  /** Identity with which the client speaks mTLS; null: plaintext. */
  certificate: { certificatePath: string; keyPath: string } | null
  /** The TLS between sidecars, whose key exchange a client with a certificate uses; absent: without a post-quantum group. */
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
  /** The address at which the generator's API, which has its progress, is to listen; null: it has none. */
  admin: Endpoint | null
  /** CPUs that it may use. */
  cpus: number
  /** The folder in which it runs. */
  folder: string
}

export interface LoadGenerator {
  name: string
  tool: ToolSpec
  /** The folder of its scripts, from the root of the kit. */
  scripts: string
  /** Finds why it cannot make an arm's load; null: it can. */
  findUnsupported(arm: Pick<Arm, 'load' | 'conditions'>): string | null
  /** Returns how many of so many CPUs it can use with so many users. */
  countCpus(options: { cpus: number; users: number }): number
  /** Creates its process. Throws BenchError if its requests are larger than a process can be given. */
  createGenerator(options: LoadOptions & { tool: Tool; scripts: string }): ProcessSpec
  /** Reads the window, in epoch milliseconds, that the generator logs when it starts; null: it has not logged it yet. */
  parseWindow(log: string): Window | null
  /**
   * Reads the result that the generator printed; place: of one of interleaved arms, absent: the first. null: it printed none, or
   * none at this place. Throws BenchError if it is damaged.
   */
  parseResult(log: string, place?: number): LoadResult | null
  /**
   * Reads the requests since it started, and how many of them failed; null: it has sent none yet, or has no API. Rejects if the
   * API cannot be reached, or answers no JSON.
   */
  readProgress(readAdmin: Handle['readAdmin']): Promise<{ requests: number; failed: number } | null>
}
