import { renderRouteName } from '../../model/routes.js'

/** @import { Route, SidecarModel } from '../../model/types.ts' */

/**
 * Renders the model as pipy-scripts/config.js reads it: the model itself, with a name for each route if something is counted by
 * route. Callers write it as JSON, because Pipy's YAML parser makes every scalar a string.
 * @param {SidecarModel} model
 * @returns the model; with metrics or rate limits, a copy whose routes have a `name`
 */
export function renderConfig(model) {
  const { inbound, outbound, features } = model
  if (!features.metrics && !features['rate-limit']) return model
  const nameRoutes = (/** @type {'inbound' | 'outbound'} */ direction, /** @type {Route[]} */ routes) =>
    routes.map(route => ({ name: renderRouteName(direction, route), ...route }))
  return {
    ...model,
    inbound: inbound && { ...inbound, routes: nameRoutes('inbound', inbound.routes) },
    outbound: outbound && { ...outbound, routes: nameRoutes('outbound', outbound.routes) },
  }
}

/**
 * Says whether a sidecar speaks TLS, as a server or as a client.
 * @param {SidecarModel} model
 * @returns {boolean}
 */
export function isUsingTls({ inbound, clusters }) {
  return (inbound !== null && inbound.mtls !== 'disabled') || clusters.some(({ mtls }) => mtls !== null)
}
