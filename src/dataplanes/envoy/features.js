import { renderRouteName } from '../../model/routes.js'
import { renderExtension, TYPE } from './shared.js'

/** @import { Cluster, Features, Route, SidecarModel } from '../../model/types.ts' */

/** The interval at which Envoy writes its access log: at its default of 10 s, the check of the feature would wait longer. */
export const FLUSH_MS = 1000

/** Envoy's command operators, by the field of the access log. @type {Record<string, string>} */
const OPERATORS = {
  start_time: '%START_TIME%',
  method: '%REQ(:METHOD)%',
  path: '%REQ(X-ENVOY-ORIGINAL-PATH?:PATH)%',
  protocol: '%PROTOCOL%',
  authority: '%REQ(:AUTHORITY)%',
  response_code: '%RESPONSE_CODE%',
  bytes_received: '%BYTES_RECEIVED%',
  bytes_sent: '%BYTES_SENT%',
  duration: '%DURATION%',
  time_to_first_byte: '%RESPONSE_DURATION%',
  upstream_cluster: '%UPSTREAM_CLUSTER%',
  upstream_host: '%UPSTREAM_HOST%',
  x_forwarded_for: '%REQ(X-FORWARDED-FOR)%',
  user_agent: '%REQ(USER-AGENT)%',
  request_id: '%REQ(X-REQUEST-ID)%',
}

/**
 * Renders an access log to the stream stdout, since in a pod a user other than root may not open /dev/stdout.
 * @param {Features} features
 * @returns one access log of Envoy's v3 API; []: the feature is off
 */
export function renderAccessLogs({ 'access-log': log }) {
  if (!log) return []
  return [
    renderExtension('envoy.access_loggers.stdout', 'envoy.extensions.access_loggers.stream.v3.StdoutAccessLog', {
      log_format: { json_format: Object.fromEntries(log.fields.map(field => [field, OPERATORS[field]])) },
    }),
  ]
}

/**
 * Renders the histogram buckets of the feature metrics.
 * @param {Features} features
 * @returns the field `stats_config` of a bootstrap; {}: the feature is off
 */
export function renderStatsConfig({ metrics }) {
  if (!metrics) return {}
  const buckets = { match: { suffix: 'upstream_rq_time' }, buckets: metrics.bucketsMs }
  return { stats_config: { histogram_bucket_settings: [buckets] } }
}

// The tracer needs the name of a collector, and resolves the name only when it reports a span.
const NO_COLLECTOR = { cluster: 'no-collector', uri: 'http://no-collector.test/v1/traces', timeout: '1s' }

/**
 * Renders a tracer, without which Envoy makes no spans: OpenTelemetry's writes the W3C header, and reports nothing unsampled.
 * @param {SidecarModel} model
 * @returns the field `tracing` of a connection manager; {}: the feature is off
 */
export function renderTracing({ features, service }) {
  if (!features['trace-headers']) return {}
  return {
    tracing: {
      // No new trace is sampled. In Envoy 1.40 neither is one that a caller sampled; an older one may export it.
      random_sampling: { value: 0 },
      provider: renderExtension('envoy.tracers.opentelemetry', 'envoy.config.trace.v3.OpenTelemetryConfig', {
        service_name: service,
        http_service: { http_uri: NO_COLLECTOR },
      }),
    },
  }
}

const RBAC = 'envoy.filters.http.rbac'
const RBAC_TYPE = 'envoy.extensions.filters.http.rbac.v3'
const RATE_LIMIT = 'envoy.filters.http.local_ratelimit'

/**
 * Renders the HTTP filters of authorization and of rate limits, which come before the router.
 * @param {Features} features
 * @param {Route[]} routes of the direction
 * @returns HTTP filters of Envoy's v3 API; []: none is needed
 */
export function renderFeatureFilters(features, routes) {
  const hasListedIdentities = routes.some(route => route.allowedIdentities)
  // These filters do nothing by themselves: rules and limits are on the routes.
  return [
    ...(features.authorization && hasListedIdentities ? [renderExtension(RBAC, `${RBAC_TYPE}.RBAC`)] : []),
    ...(features['rate-limit'] ? [{ name: RATE_LIMIT, typed_config: renderRateLimit('none') }] : []),
  ]
}

/**
 * Renders the fields that features add to a route: the name of its statistics, rules, limits and changed headers.
 * @param {Features} features
 * @param {{ route: Route, direction: 'inbound' | 'outbound' }} options
 * @returns fields of a Route of Envoy's v3 API; {}: no feature concerns it
 */
export function renderRouteFeatures(features, { route, direction }) {
  const { allowedIdentities, limitPerSecond } = route
  const { authorization, metrics, 'rate-limit': limit, 'header-rewrite': rewrite } = features
  const name = renderRouteName(direction, route)
  const filters = {
    ...(authorization && allowedIdentities
      ? { [RBAC]: { '@type': `${TYPE}${RBAC_TYPE}.RBACPerRoute`, rbac: { rules: renderRbac(allowedIdentities) } } }
      : {}),
    ...(limit ? { [RATE_LIMIT]: renderRateLimit(name, limitPerSecond ?? limit.perSecond) } : {}),
  }
  return {
    ...(metrics ? { stat_prefix: name } : {}),
    ...(Object.keys(filters).length > 0 ? { typed_per_filter_config: filters } : {}),
    ...(rewrite && {
      request_headers_to_add: renderHeaders(rewrite.request.set),
      request_headers_to_remove: rewrite.request.remove,
      response_headers_to_add: renderHeaders(rewrite.response.set),
      response_headers_to_remove: rewrite.response.remove,
    }),
  }
}

// The interval at which Envoy looks for endpoints whose ejection is over; its default is 10 s.
const RETURN_INTERVAL = '1s'

/**
 * Renders ejection by consecutive failures only. A cluster's own setting takes precedence over that of the feature.
 * @param {Features} features
 * @param {Cluster} cluster
 * @returns fields of a cluster; {}: the feature is off, also if the cluster has a setting
 */
export function renderOutlierDetection({ 'outlier-ejection': feature }, cluster) {
  if (!feature) return {}
  const ejection = cluster.ejection ?? feature
  const baseTime = `${ejection.baseSeconds}s`
  return {
    outlier_detection: {
      consecutive_5xx: ejection.consecutiveFailures,
      enforcing_success_rate: 0,
      interval: RETURN_INTERVAL,
      base_ejection_time: baseTime,
      // Otherwise an endpoint would be out longer each time.
      max_ejection_time: baseTime,
      max_ejection_percent: Math.round(ejection.maxShare * 100),
    },
    // Otherwise Envoy would send to ejected endpoints, too, if fewer than half are left.
    common_lb_config: { healthy_panic_threshold: { value: 0 } },
  }
}

/**
 * Renders a retry budget, a share of a cluster's requests. A cluster's own setting takes precedence over that of the feature.
 * @param {Features} features
 * @param {Cluster} cluster
 * @returns the field `retry_budget` of a circuit breaker's threshold; {}: the feature is off, also if the cluster has a setting
 */
export function renderRetryBudget({ 'retry-budget': feature }, { retryBudget }) {
  if (!feature) return {}
  const { share, minConcurrent } = retryBudget ?? feature
  return { retry_budget: { budget_percent: { value: share * 100 }, min_retry_concurrency: minConcurrent } }
}

/** Renders headers that replace those of the same name. @param {Record<string, string>} headers */
function renderHeaders(headers) {
  return Object.entries(headers).map(([key, value]) => ({
    header: { key, value },
    append_action: 'OVERWRITE_IF_EXISTS_OR_ADD',
  }))
}

/**
 * Renders a rate limit, whose bucket is refilled once a second.
 * @param {string} name of its statistics
 * @param {number} [perSecond] also the most tokens in the bucket; absent: no limit
 */
function renderRateLimit(name, perSecond) {
  const always = { default_value: { numerator: 100, denominator: 'HUNDRED' } }
  return {
    '@type': `${TYPE}envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit`,
    stat_prefix: name,
    ...(perSecond !== undefined && {
      token_bucket: { max_tokens: perSecond, tokens_per_fill: perSecond, fill_interval: '1s' },
      filter_enabled: always,
      filter_enforced: always,
    }),
  }
}

/**
 * Renders an RBAC of Envoy's v3 API, which allows only the requests of these identities.
 * @param {string[]} identities []: no request is allowed
 */
export function renderRbac(identities) {
  const principals = identities.map(exact => ({ authenticated: { principal_name: { exact } } }))
  return {
    action: 'ALLOW',
    policies: principals.length > 0 ? { listed: { permissions: [{ any: true }], principals } } : {},
  }
}
