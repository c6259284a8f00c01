// Addresses, of the form a.b.c.d.

/** disabled: plaintext only. */
export type MtlsMode = 'strict' | 'permissive' | 'disabled'

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
