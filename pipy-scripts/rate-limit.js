// So many requests a second to each route of this sidecar; those beyond are answered 429.
// Imported only where the model has this feature.

import config from './config.js'
import { reply } from './upstream.js'

var refuse = pipeline($=>$.replaceMessage(reply(429, 'the rate limit of the route is reached')))
var quotas = new Map()

export function wrap(next, { route }) {
  if (!route) return next
  var quota = findQuota(route)
  return pipeline($=>$.pipe(() => quota.consume(1) > 0 ? next : refuse))
}

// One for a route, whatever cluster its requests take. Threads share it by its key.
function findQuota(route) {
  var key = `${route.host || '*'}${route.pathPrefix}${JSON.stringify(route.headers)}`
  var limit = route.limitPerSecond ?? config.features['rate-limit'].perSecond
  if (!quotas.has(key)) quotas.set(key, new algo.Quota(limit, { key, per: 1 }))
  return quotas.get(key)
}
