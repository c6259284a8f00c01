/** Facts about routes that hold for every plane. Pure. @import { Cluster, Route } from './types.ts' */

/**
 * Renders the name of a route for metrics and limits, in letters, digits and underscores only, as statistics of Envoy need. Two
 * routes may get one name: processes.js then refuses a model that counts or limits by route.
 * @param {'inbound' | 'outbound'} direction
 * @param {Pick<Route, 'host' | 'pathPrefix' | 'headers'>} route
 * @returns {string}
 */
export function renderRouteName(direction, { host, pathPrefix, headers }) {
  const matched = Object.entries(headers).map(([name, value]) => `/${name}/${value}`)
  return [direction, '/', host ?? 'any', pathPrefix, ...matched].join('').replaceAll(/[^A-Za-z0-9]+/g, '_')
}

/**
 * Groups routes by host: each host, and null for any other, with the routes that requests to it can take, in the order of the
 * model. Routes for any host are in every group.
 * @param {Route[]} routes
 * @returns each host once; the group of null may have no routes
 */
export function groupRoutesByHost(routes) {
  const hosts = [...new Set([...routes.map(route => route.host), null])]
  return hosts.map(host => ({ host, routes: routes.filter(route => route.host === null || route.host === host) }))
}

/**
 * Says whether a route takes every request of its host: it has the path `/` and no headers.
 * @param {Route} route
 * @returns {boolean}
 */
export function isUnconditional({ pathPrefix, headers }) {
  return pathPrefix === '/' && Object.keys(headers).length === 0
}

/**
 * Lists the clusters that routes lead to.
 * @param {Route[]} routes
 * @param {Cluster[]} clusters
 * @returns {Cluster[]} each once, in the order of `clusters`; []: no route leads to one of them
 */
export function listCalledClusters(routes, clusters) {
  const called = new Set(routes.flatMap(({ split }) => split.map(({ cluster }) => cluster)))
  return clusters.filter(({ name }) => called.has(name))
}
