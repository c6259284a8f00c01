// Load generators.
import type { Endpoint } from './address.ts'
import type { Arm, Load, LoadResult, Tls, Tool, Window } from './documents.ts'
import type { Handle, ProcessSpec, ToolSpec } from './process.ts'

/** A request that is not the kit's POST of a body that comes back, and the answer that counts. */
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
  /** Absent: the kit's own. */
  request?: OwnRequest
  /** URLs of the first service's copies: users are spread over them. */
  urls: string[]
  /** Identity with which the client speaks mTLS; null: plaintext. */
  certificate: { certificatePath: string; keyPath: string } | null
  /** The TLS that it speaks where it has a certificate; absent: plaintext. */
  tls?: Tls
  /** The urls and the load of each arm that stands side by side; absent: there is one. */
  arms?: { urls: string[]; load: Load; request?: OwnRequest }[]
  /** The seed of the order of their turns. */
  seed?: number
  host: string
  load: Load
  tailMs: number
  /** The address at which it tells its progress; null: none. */
  admin: Endpoint | null
  cpus: number
  folder: string
}

export interface LoadGenerator {
  name: string
  tool: ToolSpec
  /** The folder of its scripts, from the root of the kit. */
  scripts: string
  /** Says why it cannot make an arm's load; null: it can. */
  findUnsupported(arm: Pick<Arm, 'load' | 'conditions'>): string | null
  /** Returns how many of so many CPUs it can use. */
  countCpus(options: { cpus: number; users: number }): number
  createGenerator(options: LoadOptions & { tool: Tool; scripts: string }): ProcessSpec
  /** The window that the generator says when it starts; null while it has not. */
  parseWindow(log: string): Window | null
  /** The result that the generator printed, of one of the arms that took turns by its place; null where it printed none. */
  parseResult(log: string, place?: number): LoadResult | null
  /** Requests since it started, and how many of them failed; null where it cannot be asked. */
  readProgress(ask: Handle['readAdmin']): Promise<{ requests: number; failed: number } | null>
}
