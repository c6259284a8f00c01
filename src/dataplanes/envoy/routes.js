import { groupRoutesByHost } from '../../model/routes.js'
import { renderRouteFeatures } from './features.js'
import { renderProtoDuration } from './shared.js'

/** @import { Route, SidecarModel } from '../../model/types.ts' */

const RETRY_INTERVAL = '0.001s'

/**
 * Renders the routes of a direction: a virtual host for each host name, and one for any, so that a thousand services cost one look-up. In a
 * host the first match wins.
 * @param {SidecarModel} model
 * @param {'inbound' | 'outbound'} direction
 * @returns a RouteConfiguration of Envoy's v3 API, with the direction as its name; its virtual host has no routes if the model
 *   lacks the direction
 */
export function renderRouteConfig(model, direction) {
  const virtual_hosts = groupRoutesByHost(model[direction]?.routes ?? []).map(({ host, routes }) => ({
    name: host ?? 'any',
    domains: [host ?? '*'],
    routes: routes.map(route => renderRoute(model, { direction, route })),
  }))
  return { name: direction, ignore_port_in_host_matching: true, virtual_hosts }
}

/**
 * Renders a route with the model's request timeout and the fields of its features. Only a failed connect is tried again.
 * @param {SidecarModel} model
 * @param {{ direction: 'inbound' | 'outbound', route: Route }} options
 */
function renderRoute({ features, retries, timeouts }, { direction, route }) {
  const { pathPrefix, headers, split } = route
  const weightedClusters = split.map(({ cluster, weight }) => ({ name: cluster, weight }))
  const retryPolicy = {
    retry_on: 'connect-failure',
    num_retries: retries,
    retry_back_off: { base_interval: RETRY_INTERVAL },
  }
  return {
    ...renderRouteFeatures(features, { route, direction }),
    match: {
      prefix: pathPrefix,
      headers: Object.entries(headers).map(([name, exact]) => ({ name, string_match: { exact } })),
    },
    route: {
      timeout: renderProtoDuration(timeouts.requestSeconds),
      ...(split.length === 1 ? { cluster: split[0].cluster } : { weighted_clusters: { clusters: weightedClusters } }),
      ...(retries > 0 && { retry_policy: retryPolicy }),
    },
  }
}
