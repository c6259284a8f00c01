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
 * Explains why a program has no post-quantum group; null: it has one, or was not found yet, and its version is empty.
 * @param {{ name: string, variable: string, version: string, library?: string }} program library: with which it runs
 */
export function findGroupLack({ name, variable, version, library }) {
  const [, ofLibrary] = /^OpenSSL (\d+\.\d+\.\d+)$/.exec(library ?? '') ?? []
  if (version === '' || (ofLibrary && isAtLeast(ofLibrary, '3.5'))) return null
  const runs = library ? `runs with ${library}` : 'names no such library'
  return `post-quantum groups are asked of OpenSSL 3.5 or later, and ${name} ${version} ${runs} (${variable}=/path/to/${name.toLowerCase()} names another)`
}
