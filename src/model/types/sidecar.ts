// The neutral model of a sidecar that every data plane renders.
import type { Endpoint, MtlsMode } from './address.ts'
import type { Protocol } from './documents.ts'

export interface Route {
  /** Exact host, without port; null for any. */
  host: string | null
  pathPrefix: string
  /** Header names in lower case, exact values. */
  headers: Record<string, string>
  split: { cluster: string; weight: number }[]
  /** Identities of callers whose requests it takes, with the feature authorization; absent: all. */
  allowedIdentities?: string[]
  /** The route's own limit, instead of that of the feature rate-limit (processes.js has the bounds). */
  limitPerSecond?: number
  /** The route's own port in a sidecar that carries bytes; absent: that of the listener. */
  port?: number
}

export interface Cluster {
  name: string
  endpoints: Endpoint[]
  balancing: 'round-robin' | 'least-requests'
  /** mTLS to the cluster; null: plaintext. acceptedIdentities null: any that the run's authority signed. */
  mtls: { serverName: string; acceptedIdentities: string[] | null } | null
  protocol: Protocol
  /** The cluster's own circuit breaker, retry budget and ejection, instead of those of the features. */
  maxRequests?: number
  retryBudget?: Features['retry-budget']
  ejection?: Features['outlier-ejection']
}

/**
 * The destination ports of connections that rules redirect to this listener; connections to other ports are closed. Absent:
 * clients connect to the listener itself.
 */
interface Redirected {
  redirectedPorts?: number[]
}

export interface SidecarModel {
  service: string
  /** The sidecar carries bytes: each route has a port, and one cluster takes all connections to it (byte-listeners.js). */
  carriesBytes?: true
  /** The sidecar carries gRPC: HTTP/2 comes in at its outbound listener, too, and goes to the application. */
  carriesGrpc?: true
  /** The application writes its answers in chunks: each is passed on when it comes, not with the last. */
  streamsAnswers?: true
  identity: string
  workers: number
  /** The administration port, which has counters; not every plane opens it. */
  admin: Endpoint
  /** Number of tries after a refused connection. */
  retries: 0 | 1
  timeouts: { connectSeconds: number; requestSeconds: number; idleSeconds: number }
  /** groups: of the key exchange, in order. */
  tls: { suite: string; groups: string[] }
  /** combinedPath: certificate and key in one file, for a plane that wants them so. */
  trust: { caPath: string; certificatePath: string; keyPath: string; combinedPath: string }
  inbound:
    | (Endpoint & {
        mtls: MtlsMode
        protocol: Protocol
        acceptedIdentities: string[] | null
        routes: Route[]
      } & Redirected)
    | null
  outbound: (Endpoint & { routes: Route[] } & Redirected) | null
  clusters: Cluster[]
  features: Features
}

/** The work of a sidecar for a request beyond routing and mTLS; an absent feature is switched off (features.js). */
export interface Features {
  /** A line of JSON on stdout for each request. */
  'access-log'?: { fields: string[] }
  /** Routes that list identities answer others 403. */
  authorization?: Record<string, never>
  /** Each route answers requests beyond it 429. */
  'rate-limit'?: { perSecond: number }
  /** A counter and a histogram of durations for each route, at the administration port. */
  metrics?: { bucketsMs: number[] }
  /** W3C Trace Context: a trace is passed on, or begun. */
  'trace-headers'?: Record<string, never>
  'header-rewrite'?: Record<'request' | 'response', { set: Record<string, string>; remove: string[] }>
  /** The most requests under way to each cluster; those beyond are answered 503. */
  'circuit-breaker'?: { maxRequests: number }
  /** Retries at a time to each cluster: a share of the requests under way, and at least a minimum. */
  'retry-budget'?: { share: number; minConcurrent: number }
  /** Ejection for a time of endpoints that fail (5xx, no connection) so often in a row; at most a share of a cluster. */
  'outlier-ejection'?: { consecutiveFailures: number; baseSeconds: number; maxShare: number }
}

export type FeatureName = keyof Features
