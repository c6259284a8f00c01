import { renderExtension } from './shared.js'

/** The profile osm-1.1: the configuration that OSM 1.1 gave its Envoy (docs of openservicemesh/osm v1.1, pkg/envoy/lds). */
/** @import { DeployedProfile, SidecarModel } from '../../model/types.ts' */

export const OSM = 'osm-1.1'

/** @type {DeployedProfile} */
export const OSM_DEPLOYED = {
  from: 'OSM 1.1 (openservicemesh/osm v1.1), its proxy with the defaults of its Helm chart',
  deviations: [
    'A second Lua script, which reads the same headers, stands for its Wasm filter of statistics',
    'Lines of its access log are formatted and thrown away, where OSM writes them to stdout',
    'Requests have a limit of 15 s, where OSM has none',
    'TLS, balancing and limits of connections are those of the lean configuration',
    'Its configuration is in a file: no xDS, no SDS',
  ],
}

/**
 * Renders OSM's HTTP filters. Its Wasm filter of statistics is not available: a second Lua script, which reads and removes the same
 * headers, stands for it.
 * @param {SidecarModel} model
 * @returns HTTP filters of Envoy's v3 API, in the order of the chain
 */
export function renderOsmFilters({ service }) {
  const headers = ['namespace', 'kind', 'name', 'pod'].map(key => `osm-stats-${key}`)
  const addHeaders = headers.map(name => `h:add('${name}', '${service}')`).join(' ')
  const readHeaders = headers.map(name => `h:get('${name}') h:remove('${name}')`).join(' ')
  return [
    renderExtension('envoy.filters.http.rbac', 'envoy.extensions.filters.http.rbac.v3.RBAC', {
      rules: { action: 'ALLOW', policies: { any: { permissions: [{ any: true }], principals: [{ any: true }] } } },
    }),
    // Responses pass the filters from the last to the first.
    renderLuaFilter(`function envoy_on_response(r) local h = r:headers() ${readHeaders} end`),
    renderLuaFilter(`function envoy_on_response(r) local h = r:headers() ${addHeaders} end`),
  ]
}

/** @param {string} code */
function renderLuaFilter(code) {
  return renderExtension('envoy.filters.http.lua', 'envoy.extensions.filters.http.lua.v3.Lua', {
    default_source_code: { inline_string: code },
  })
}

// OSM logs to stdout. Here the lines are formatted and written, too, but to /dev/null.
export const OSM_ACCESS_LOG = renderExtension(
  'envoy.access_loggers.file',
  'envoy.extensions.access_loggers.file.v3.FileAccessLog',
  {
    path: '/dev/null',
    log_format: {
      json_format: {
        start_time: '%START_TIME%',
        method: '%REQ(:METHOD)%',
        path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
        protocol: '%PROTOCOL%',
        response_code: '%RESPONSE_CODE%',
        response_code_details: '%RESPONSE_CODE_DETAILS%',
        time_to_first_byte: '%RESPONSE_DURATION%',
        upstream_cluster: '%UPSTREAM_CLUSTER%',
        response_flags: '%RESPONSE_FLAGS%',
        bytes_received: '%BYTES_RECEIVED%',
        bytes_sent: '%BYTES_SENT%',
        duration: '%DURATION%',
        upstream_service_time: '%RESP(X-ENVOY-UPSTREAM-SERVICE-TIME)%',
        x_forwarded_for: '%REQ(X-FORWARDED-FOR)%',
        user_agent: '%REQ(USER-AGENT)%',
        request_id: '%REQ(X-REQUEST-ID)%',
        requested_server_name: '%REQUESTED_SERVER_NAME%',
        authority: '%REQ(:AUTHORITY)%',
        upstream_host: '%UPSTREAM_HOST%',
      },
    },
  },
)
