// So many requests a second to each route of this sidecar; those beyond are answered 429.
// Imported only where the model has this feature.

import config from './config.js'
import { refuse } from './upstream.js'

var refused = refuse(429, 'the rate limit of the route is reached')
var quotas = new Map()

export function wrap(next, { route }) {
  if (!route) return next
  var take = findTokens(route).consume
  var allowed = pipeline(next)
  return $ => $.pipe(() => take(1) > 0 ? allowed : refused)
}

// Those of a route, whatever cluster its requests take. Threads share them by its name.
function findTokens(route) {
  var name = route.name
  var limit = route.limitPerSecond ?? config.features['rate-limit'].perSecond
  if (!quotas.has(name)) quotas.set(name, new algo.Quota(limit, { key: name, per: 1 }))
  return quotas.get(name)
}
