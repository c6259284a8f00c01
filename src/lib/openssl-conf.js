import { isAtLeast } from './version.js'

/**
 * Renders an openssl.cnf that pins the groups, in order: Pipy 2.0's OpenSSL offers X25519MLKEM768 first. Session tickets are off,
 * since no client resumes a session: OpenSSL would send two in each handshake, each with the client's certificate.
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
 * Finds the reason for which a program has no post-quantum group: OpenSSL has them from 3.5 on.
 * @param {object} program
 * @param {string} program.name
 * @param {string} program.variable of the environment, which names another program
 * @param {string} program.version empty while a plan is drafted, before programs are found
 * @param {string} [program.library] that it runs with, such as "OpenSSL 3.0.19"; absent: it does not say, and counts as too old
 * @returns {string | null} null: it has one, or its version is not known
 */
export function findGroupLack({ name, variable, version, library }) {
  if (version === '') return null
  const [, ofLibrary] = /^OpenSSL (\d+\.\d+\.\d+)$/.exec(library ?? '') ?? []
  if (ofLibrary && isAtLeast(ofLibrary, '3.5')) return null
  const runs = library ? `runs with ${library}` : 'names no such library'
  const way = `${variable}=/path/to/${name.toLowerCase()} names another`
  return `post-quantum groups are asked of OpenSSL 3.5 or later, and ${name} ${version} ${runs} (${way})`
}
