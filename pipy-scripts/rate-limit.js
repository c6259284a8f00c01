// So many requests a second to each route of this sidecar; those beyond are answered 429.
// Imported only where the model has this feature.

import config from './config.js'
import { refuse } from './upstream.js'

var refused = refuse(429, 'the rate limit of the route is reached')
var quotas = new Map()

export function wrap(next, { route }) {
  if (!route) return next
  var quota = findQuota(route)
  var allowed = pipeline(next)
  return $ => $.pipe(() => quota.consume(1) > 0 ? allowed : refused)
}

// One for a route, whatever cluster its requests take. Threads share it by its name.
function findQuota(route) {
  var name = route.name
  var limit = route.limitPerSecond ?? config.features['rate-limit'].perSecond
  if (!quotas.has(name)) quotas.set(name, new algo.Quota(limit, { key: name, per: 1 }))
  return quotas.get(name)
}
