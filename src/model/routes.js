/** Facts about routes that hold for every plane. Pure. @import { Route } from './types.ts' */

/**
 * Names a route as every plane counts and limits it: by letters, digits and underscores, as a statistic of Envoy
 * may be called. A model in which two routes have one name is refused (processes.js).
 * @param {'inbound' | 'outbound'} direction @param {Pick<Route, 'host' | 'pathPrefix' | 'headers'>} route
 */
export function nameRoute(direction, { host, pathPrefix, headers }) {
  const matched = Object.entries(headers).map(([name, value]) => `/${name}/${value}`)
  return [direction, '/', host ?? 'any', pathPrefix, ...matched].join('').replaceAll(/[^A-Za-z0-9]+/g, '_')
}

/** Lists each host, and any other (null), with the routes that its requests can take, in order. @param {Route[]} routes */
export function groupByHost(routes) {
  const hosts = [...new Set([...routes.map(route => route.host), null])]
  return hosts.map(host => ({ host, routes: routes.filter(route => route.host === null || route.host === host) }))
}

/** Says whether a route takes every request of its host. @param {Route} route */
export function isUnconditional({ pathPrefix, headers }) {
  return pathPrefix === '/' && Object.keys(headers).length === 0
}
