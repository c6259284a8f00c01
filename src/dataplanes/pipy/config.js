import { renderRouteName } from '../../model/routes.js'

/**
 * Renders the model as pipy-scripts/config.js reads it: the model itself, with a name for each route if something is counted by
 * route. It becomes JSON, because Pipy's YAML parser makes every scalar a string.
 * @import { SidecarModel } from '../../model/types.ts'
 * @param {SidecarModel} model
 * @returns the model; with metrics or rate limits, a copy whose routes have a `name`
 */
export function renderConfig(model) {
  const { inbound, outbound, features } = model
  if (!features.metrics && !features['rate-limit']) return model
  return {
    ...model,
    inbound: inbound && {
      ...inbound,
      routes: inbound.routes.map(r => ({ name: renderRouteName('inbound', r), ...r })),
    },
    outbound: outbound && {
      ...outbound,
      routes: outbound.routes.map(r => ({ name: renderRouteName('outbound', r), ...r })),
    },
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
