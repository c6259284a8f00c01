// IPv4 addresses, written a.b.c.d.

/** The mTLS mode of an inbound listener. strict: mTLS only; permissive: mTLS or plaintext; disabled: plaintext only. */
export type MtlsMode = 'strict' | 'permissive' | 'disabled'

export interface Endpoint {
  address: string
  port: number
}

/** The addresses of a service, which may all be the same one. */
export interface Place {
  /** The address at which others reach it. */
  reach: string
  /** The address at which it listens for them. */
  listen: string
  /** The address that its application and its sidecar share. */
  inside: string
}
