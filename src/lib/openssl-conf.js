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
 * Explains why a program has no post-quantum group; null: it has one, or it was not found yet.
 * @param {{ name: string, variable: string, version: string, library?: string }} program variable: names another one in the
 *   environment; version: empty while a plan is drafted, before programs are found; library: with which it runs, such as
 *   "OpenSSL 3.0.19"; absent: it does not say
 */
export function findGroupLack({ name, variable, version, library }) {
  if (version === '') return null
  const [, ofLibrary] = /^OpenSSL (\d+\.\d+\.\d+)$/.exec(library ?? '') ?? []
  if (ofLibrary && isAtLeast(ofLibrary, '3.5')) return null
  const runs = library ? `runs with ${library}` : 'names no such library'
  const way = `${variable}=/path/to/${name.toLowerCase()} names another`
  return `post-quantum groups are asked of OpenSSL 3.5 or later, and ${name} ${version} ${runs} (${way})`
}
