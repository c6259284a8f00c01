import { groupByHost, isUnconditional } from '../../model/routes.js'
import { quoteWord } from './connections.js'

/** The choice of a backend: a look-up of the host, then rules in order for hosts whose routes have conditions. */
/** @import { Route } from '../../model/types.ts' */

/** The backend that answers 404. A service has no underscore in its name. */
export const NO_ROUTE = 'no_route'

const HOST = 'req.hdr(host),host_only,lower'

/**
 * Renders the choice of a backend by a frontend.
 * @param {Route[]} routes
 * @param {string} mapFile the path of the file that renderMap() renders
 * @returns {string[]} lines of a frontend
 */
export function renderRoutes(routes, mapFile) {
  const hosts = assignBackends(routes)
  const any = hosts.find(({ host }) => host === null)?.backend ?? NO_ROUTE
  if (hosts.length === 1 && hosts[0].host === null && hosts[0].rules.length === 0) return [`default_backend ${any}`]
  return [
    `http-request set-var(txn.to) ${quoteWord(`${HOST},map_str(${mapFile},${any})`)}`,
    ...hosts.flatMap(({ backend, rules }) =>
      rules.flatMap(rule => renderRule(`{ var(txn.to) -m str ${backend} }`, rule)),
    ),
    'use_backend %[var(txn.to)]',
    `default_backend ${NO_ROUTE}`,
  ]
}

/**
 * Renders a line for each host: its name, and its backend or the name by which its rules know it.
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
 * Assigns a backend and rules to each host, and to all other hosts (null). A host whose first route has no condition and one cluster
 * gets the backend of that cluster; otherwise `backend` is only a name for the host, and its rules choose the backend.
 * @param {Route[]} routes
 */
function assignBackends(routes) {
  const hosts = groupByHost(routes).filter(host => host.routes.length > 0)
  return hosts.map(({ host, routes: rules }, i) => {
    const [first] = rules
    return isUnconditional(first) && first.split.length === 1
      ? { host, backend: first.split[0].cluster, rules: [] }
      : { host, backend: `host_${i}`, rules }
  })
}

/**
 * Renders the rule of a route.
 * @param {string} hostCondition
 * @param {Route} route
 * @returns {string[]} a line for each cluster, which takes its share of what the lines before it leave
 */
function renderRule(hostCondition, { pathPrefix, headers, split }) {
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

/** @param {string} text */
function quoteText(text) {
  return `'${text.replaceAll("'", "'\\''")}'`
}
