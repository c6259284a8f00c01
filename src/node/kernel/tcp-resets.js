import { readFileSync } from 'node:fs'

/** How many resets this network namespace has sent: one for each connection that it refused (RFC 4022, tcpOutRsts), and others. */
export function countResets() {
  return parseResets(readFileSync('/proc/net/snmp', 'utf8'))
}

/** @param {string} text of /proc/net/snmp: a line of names and one of values for each protocol */
export function parseResets(text) {
  const [names, values] = text.split('\n').flatMap(line => (line.startsWith('Tcp: ') ? [line.split(' ')] : []))
  return Number(values[names.indexOf('OutRsts')])
}
