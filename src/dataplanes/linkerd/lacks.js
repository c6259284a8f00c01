/** Checks of parity that Linkerd's proxy fails, with the reasons, which a report names. Pure. */
/** @import { DataPlane, Lack } from '../../model/types.ts' */

const IDENTITY_REFUSED = /identity.*: refused, expected accepted$/

/** @type {NonNullable<DataPlane['findLacks']>} */
export function findLacks({ tls, protocol, trafficPolicy }) {
  const isOpen = trafficPolicy === 'open'
  const retried = {
    row: 'parity-answers',
    of: /^a refused connection, tried once more/,
    why: 'it tries a refused connection no second time',
  }
  if (protocol === 'tcp')
    return [retried, { row: 'parity-next-endpoint', why: retried.why }, ...(tls === 'plaintext' ? [] : listOfTunnels())]
  return [
    retried,
    ...(protocol === 'grpc' ? listOfCalls() : listOfAnswers()),
    {
      row: 'parity-answers',
      of: /^(a host in capitals|the host DIRECT)/,
      why: 'it compares the hosts of routes as they are written: one in capitals is another',
    },
    ...(tls === 'plaintext'
      ? [{ row: 'parity-tls', why: 'as a server it speaks mTLS to every peer that begins it' }]
      : []),
    ...(tls === 'plaintext' ? [] : listOfTls({ isOpen })),
  ]
}

/** @returns {Lack[]} */
function listOfAnswers() {
  return [
    {
      row: 'parity-answers',
      of: /^an upstream that (refuses|resets|closes without an answer): status 50[02], expected 503$/,
      why: 'it answers 502 where a connection fails, and 500 where one ends without an answer',
    },
  ]
}

/** @returns {Lack[]} */
function listOfCalls() {
  const why = 'it tells failures of calls by other codes of gRPC'
  return [
    { row: 'parity-answers', of: /: (status 500, expected (404|503)|a 503 without a reason)$/, why },
    { row: 'parity-connect-timeout', why },
  ]
}

/** @param {{ isOpen: boolean }} options @returns {Lack[]} */
function listOfTls({ isOpen }) {
  const late = 'it tells a peer that it does not take so when that sends a request, and not in the handshake'
  const policy =
    'it knows SPIFFE identities by their whole names alone: where any is accepted, it asks for no certificate'
  return [
    {
      row: 'parity-refusals',
      of: /: answered 403, expected refused$/,
      why: 'it answers 403 to peers that it does not take',
    },
    {
      row: 'parity-handshakes',
      of: isOpen ? /^no certificate: kept open/ : /^(no certificate|.*identity.*): kept open/,
      why: late,
    },
    {
      row: 'parity-tls',
      why: 'it has no setting for suites and groups: as a server it takes P-256, too, and two of it choose X25519MLKEM768',
    },
    { row: 'parity-suites', why: 'it has no setting for suites' },
    {
      row: 'parity-permissive',
      of: isOpen ? /^no certificate/ : /^(no certificate|.*identity.*), .*: accepted, expected refused$/,
      why: 'where it takes plaintext it takes every peer of the mesh, and peers without a certificate',
    },
    ...(isOpen
      ? [
          { row: 'parity-refusals', of: /^no certificate.*: accepted, expected refused$/, why: policy },
          {
            row: 'parity-upstreams',
            of: IDENTITY_REFUSED,
            why: 'as a client it accepts the identity of the workload alone, whatever the policy',
          },
        ]
      : []),
  ]
}

/** @returns {Lack[]} */
function listOfTunnels() {
  const why =
    'it carries bytes over mTLS to its own kind alone: behind a header, at one port, with a protocol name of its own'
  return [
    ...['parity-refusals', 'parity-permissive', 'parity-upstreams'].map(row => ({ row, of: IDENTITY_REFUSED, why })),
    ...['parity-handshakes', 'parity-tls', 'parity-protocol'].map(row => ({ row, why })),
  ]
}
