import { isAtLeast } from './version.js'

/**
 * Renders an openssl.cnf that pins the groups, in order: Pipy 2.0's OpenSSL offers X25519MLKEM768 first. A server sends no
 * session tickets, which nobody resumes: OpenSSL sends two, each with the certificate of the client.
 * @param {string[]} groups
 */
export const renderOpensslConf = groups => `openssl_conf = main
[main]
ssl_conf = ssl
[ssl]
system_default = tls
[tls]
Groups = ${groups.join(':')}
NumTickets = 0
`

/**
 * Explains why a program has no post-quantum group; null: it has.
 * @param {string} program @param {string} [library] with which it runs, such as "OpenSSL 3.0.19"; absent: it does not say
 */
export function findGroupLack(program, library) {
  const [, version] = /^OpenSSL (\d+\.\d+\.\d+)$/.exec(library ?? '') ?? []
  if (version && isAtLeast(version, '3.5')) return null
  return `post-quantum groups are asked of OpenSSL 3.5 or later, and ${program} ${library ? `runs with ${library}` : 'names no such library'}`
}
