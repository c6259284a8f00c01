import { groupRoutesByHost, isUnconditional } from '../../model/routes.js'
import { quoteConfigWord } from './connections.js'

/** @import { Route } from '../../model/types.ts' */

/** The backend that answers 404. A service has no underscore in its name. */
export const NO_ROUTE = 'no_route'

const HOST = 'req.hdr(host),host_only,lower'

/**
 * Renders the choice of a backend: a look-up of the host, and then rules in order for a host whose routes have conditions or a split. A
 * listener whose routes name no host, and the first of which takes every request to one cluster, needs neither.
 * @param {Route[]} routes
 * @param {string} mapFile the path of the file that renderMap() renders
 * @returns {string[]} lines of a frontend
 */
export function renderRoutes(routes, mapFile) {
  const hosts = assignBackends(routes)
  const otherHosts = hosts.find(({ host }) => host === null)
  const defaultBackend = otherHosts?.backend ?? NO_ROUTE
  if (hosts.length === 1 && otherHosts?.rules.length === 0) return [`default_backend ${defaultBackend}`]
  return [
    `http-request set-var(txn.to) ${quoteConfigWord(`${HOST},map_str(${mapFile},${defaultBackend})`)}`,
    ...hosts.flatMap(({ backend, rules }) =>
      rules.flatMap(route => renderRouteRules(`{ var(txn.to) -m str ${backend} }`, route)),
    ),
    'use_backend %[var(txn.to)]',
    `default_backend ${NO_ROUTE}`,
  ]
}

/**
 * Renders the map of hosts: the name of each in lower case, and its backend or the name by which its rules know it.
 * @param {Route[]} routes
 * @returns {string} lines of `host backend`; empty: every route is for any host
 */
export function renderMap(routes) {
  return assignBackends(routes)
    .filter(({ host }) => host !== null)
    .map(({ host, backend }) => `${host?.toLowerCase()} ${backend}\n`)
    .join('')
}

/**
 * Assigns a backend and rules to each host, and to all other hosts (null) if they have routes. A host whose first route has no condition
 * and one cluster gets the backend of that cluster, and no rules; otherwise `backend` is only a name for the host, and its rules choose the
 * backend.
 * @param {Route[]} routes
 * @returns each host that has routes, once
 */
function assignBackends(routes) {
  const hosts = groupRoutesByHost(routes).filter(host => host.routes.length > 0)
  return hosts.map(({ host, routes: rules }, i) => {
    const [first] = rules
    return isUnconditional(first) && first.split.length === 1
      ? { host, backend: first.split[0].cluster, rules: [] }
      : { host, backend: `host_${i}`, rules }
  })
}

/**
 * Renders the rules of a route.
 * @param {string} hostCondition an anonymous ACL, which is true for requests to the host of the route
 * @param {Route} route
 * @returns {string[]} a line for each cluster, which takes its share of what the lines before it leave
 */
function renderRouteRules(hostCondition, { pathPrefix, headers, split }) {
  const conditions = [
    hostCondition,
    ...(pathPrefix === '/' ? [] : [`{ path_beg -- ${quoteText(pathPrefix)} }`]),
    ...Object.entries(headers).map(([name, value]) => `{ req.fhdr(${name}) -m str -- ${quoteText(value)} }`),
  ].join(' ')
  const sumWeightsFrom = (/** @type {number} */ i) => split.slice(i).reduce((sum, { weight }) => sum + weight, 0)
  return split.map(({ cluster, weight }, i) => {
    const share = i === split.length - 1 ? '' : ` { rand(${sumWeightsFrom(i)}) lt ${weight} }`
    return `use_backend ${cluster} if ${conditions}${share}`
  })
}

/** Quotes a text so that HAProxy reads none of its characters as special. @param {string} text */
function quoteText(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}
