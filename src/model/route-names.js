/** What counts and limits of a route are called, the same by every plane. Pure. @import { Route } from './types.ts' */

/**
 * Of letters, digits and underscores, as a statistic of Envoy may be called. A model in which two routes have one name is
 * refused (limits.js).
 * @param {'inbound' | 'outbound'} direction
 * @param {Pick<Route, 'host' | 'pathPrefix' | 'headers'>} route
 */
export function nameRoute(direction, { host, pathPrefix, headers }) {
  const matched = Object.entries(headers).map(([name, value]) => `/${name}/${value}`)
  return [direction, '/', host ?? 'any', pathPrefix, ...matched].join('').replaceAll(/[^A-Za-z0-9]+/g, '_')
}
