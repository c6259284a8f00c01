import { SIDECAR_USER } from '../model/sidecar-contract.js'

/** @import { ProcessSpec } from '../model/types.ts' */

/**
 * Renders the rules of a service's network namespace, as OSM, FSM and Istio set them: incoming connections go to the
 * sidecar's inbound port, and those that the application opens to its outbound port. A port of null lets connections
 * pass; the kernel tracks them as well. Connections to the loopback pass, and so do those that the sidecar opens, except to an address
 * that is translated.
 * @param {NonNullable<ProcessSpec['redirects']>} redirects
 * @param {number[]} ports of the sidecar itself: connections to them are not redirected
 * @returns {string} input of iptables-restore
 */
export function renderRedirectRules({ inbound, outbound, translations = [] }, ports) {
  const renderJump = (/** @type {number | null} */ port) => (port === null ? 'RETURN' : `REDIRECT --to-ports ${port}`)
  const exemptions = [...new Set(ports)].map(port => `-A PREROUTING -p tcp --dport ${port} -j RETURN`)
  const fromSidecar = `-p tcp -m owner --uid-owner ${SIDECAR_USER}`
  const translationRules = translations.map(({ from, to }) => {
    const destination = `-d ${from.address} --dport ${from.port}`
    return `-A OUTPUT ${fromSidecar} ${destination} -j DNAT --to-destination ${to.address}:${to.port}`
  })
  return [
    '*nat',
    ...exemptions,
    `-A PREROUTING -p tcp -j ${renderJump(inbound)}`,
    ...translationRules,
    `-A OUTPUT ${fromSidecar} -j RETURN`,
    '-A OUTPUT -p tcp -d 127.0.0.0/8 -j RETURN',
    `-A OUTPUT -p tcp -j ${renderJump(outbound)}`,
    'COMMIT',
    '',
  ].join('\n')
}

/**
 * Renders the rules of a service, by the first of its processes that has redirects. The ports of all its sidecars, and their
 * administration ports, are not redirected.
 * @param {ProcessSpec[]} specs of all processes of the service
 * @returns {string | null} input of iptables-restore; null: no process has redirects
 */
export function renderServiceRules(specs) {
  const redirects = specs.find(spec => spec.redirects)?.redirects
  if (!redirects) return null
  const sidecars = specs.filter(({ role }) => role === 'sidecar')
  const endpoints = sidecars.flatMap(({ listens, admin }) => (admin ? [...listens, admin] : listens))
  return renderRedirectRules(
    redirects,
    endpoints.map(({ port }) => port),
  )
}
