// Addresses, of the form a.b.c.d.

/** disabled: plaintext only. */
export type MtlsMode = 'strict' | 'permissive' | 'disabled'

export interface Endpoint {
  address: string
  port: number
}

/** The addresses of a service. */
export interface Place {
  /** The address at which others reach it. */
  reach: string
  /** The address at which it listens for them. */
  listen: string
  /** The address that its application and its sidecar share. */
  inside: string
}
