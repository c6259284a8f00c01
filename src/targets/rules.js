import { SIDECAR_USER } from '../model/sidecar-contract.js'

/** @import { ProcessSpec } from '../model/types.ts' */

/**
 * Renders the rules of a service's network namespace, as OSM, FSM and Istio set them: incoming connections go to the
 * sidecar's inbound port, and those that the application opens to its outbound port. A port of null lets connections
 * pass; the kernel tracks them as well.
 * @param {NonNullable<ProcessSpec['redirects']>} redirects
 * @param {number[]} ports of the sidecar, from which connections are not redirected
 * @returns {string} input of iptables-restore
 */
export function renderRules({ inbound, outbound, translations = [] }, ports) {
  const renderJump = (/** @type {number | null} */ port) => (port === null ? 'RETURN' : `REDIRECT --to-ports ${port}`)
  const passed = [...new Set(ports)].map(port => `-A PREROUTING -p tcp --dport ${port} -j RETURN`)
  const ofSidecar = `-p tcp -m owner --uid-owner ${SIDECAR_USER}`
  const translated = translations.map(
    ({ from, to }) =>
      `-A OUTPUT ${ofSidecar} -d ${from.address} --dport ${from.port} -j DNAT --to-destination ${to.address}:${to.port}`,
  )
  return [
    '*nat',
    ...passed,
    `-A PREROUTING -p tcp -j ${renderJump(inbound)}`,
    ...translated,
    `-A OUTPUT ${ofSidecar} -j RETURN`,
    '-A OUTPUT -p tcp -d 127.0.0.0/8 -j RETURN',
    `-A OUTPUT -p tcp -j ${renderJump(outbound)}`,
    'COMMIT',
    '',
  ].join('\n')
}

/**
 * Renders the rules of a service's processes.
 * @param {ProcessSpec[]} specs
 * @returns {string | null} input of iptables-restore; null: no process has redirects
 */
export function renderServiceRules(specs) {
  const redirects = specs.find(spec => spec.redirects)?.redirects
  if (!redirects) return null
  const sidecars = specs.filter(({ role }) => role === 'sidecar')
  const sidecarPorts = sidecars
    .flatMap(({ listens, admin }) => [...listens, ...(admin ? [admin] : [])])
    .map(({ port }) => port)
  return renderRules(redirects, sidecarPorts)
}
