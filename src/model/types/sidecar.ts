// What a sidecar does: the neutral model that every data plane renders.
import type { Endpoint, MtlsMode } from './address.ts'
import type { Protocol } from './documents.ts'

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

/** The ports that clients mean where rules redirect their connections to this listener; those that mean another port are
 * closed. Absent: clients connect to the listener itself. */
interface Redirected {
  redirectedPorts?: number[]
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
