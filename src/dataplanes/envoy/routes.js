import { groupByHost } from '../../model/routes.js'
import { renderRouteFeatures } from './features.js'
import { renderProtoDuration } from './shared.js'

/** @import { SidecarModel } from '../../model/types.ts' */

const RETRY_INTERVAL = '0.001s'

/**
 * Renders the routes of a direction, by whose name a listener finds them.
 * @param {SidecarModel} model
 * @param {'inbound' | 'outbound'} direction
 * @returns a RouteConfiguration of Envoy's v3 API
 */
export function renderRouteConfig(model, direction) {
  const virtual_hosts = renderHosts(model, direction)
  return { name: direction, ignore_port_in_host_matching: true, virtual_hosts }
}

/**
 * Renders a virtual host for each host name, and one for any: a thousand services cost one look-up. In a host the first match wins.
 * @param {SidecarModel} model
 * @param {'inbound' | 'outbound'} direction
 */
function renderHosts(model, direction) {
  return groupByHost(model[direction]?.routes ?? []).map(({ host, routes }) => ({
    name: host ?? 'any',
    domains: [host ?? '*'],
    routes: routes.map(route => ({
      ...renderRouteFeatures(model.features, { route, direction }),
      match: {
        prefix: route.pathPrefix,
        headers: Object.entries(route.headers).map(([name, exact]) => ({ name, string_match: { exact } })),
      },
      route: {
        timeout: renderProtoDuration(model.timeouts.requestSeconds),
        ...(route.split.length === 1
          ? { cluster: route.split[0].cluster }
          : {
              weighted_clusters: { clusters: route.split.map(({ cluster, weight }) => ({ name: cluster, weight })) },
            }),
        ...(model.retries > 0 && {
          retry_policy: {
            retry_on: 'connect-failure',
            num_retries: model.retries,
            retry_back_off: { base_interval: RETRY_INTERVAL },
          },
        }),
      },
    })),
  }))
}
