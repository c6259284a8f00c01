// Addresses, of the form a.b.c.d, and what is spoken there.
import type { z } from 'zod'
import type * as S from '../schemas.js'

/** disabled: plaintext only. */
export type MtlsMode = 'strict' | 'permissive' | 'disabled'
export type Protocol = z.infer<typeof S.protocol>
/** What is spoken between sidecars: nothing but HTTP, or mTLS with certificates of a key type. */
export type Tls = z.infer<typeof S.tls>
export type TrafficPolicy = z.infer<typeof S.trafficPolicy>

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
