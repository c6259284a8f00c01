// So many requests a second to each route of this sidecar; those beyond are answered 429.
// Imported only where the model has this feature.

import config from './config.js'
import { refuse } from './upstream.js'

var refused = refuse(429, 'the rate limit of the route is reached')
var quotas = new Map()

// Pipy's own filter takes the token; the script only looks whether there is one. Of two threads that see the last one,
// one waits for the next.
export function wrap(next, { route }) {
  if (!route) return next
  var tokens = findTokens(route)
  var allowed = pipeline($ => next($.throttleMessageRate(tokens)))
  return $ => $.pipe(() => tokens.current > 0 ? allowed : refused)
}

// Those of a route, whatever cluster its requests take. Threads share them by its name.
function findTokens(route) {
  var name = route.name
  var limit = route.limitPerSecond ?? config.features['rate-limit'].perSecond
  if (!quotas.has(name)) quotas.set(name, new algo.Quota(limit, { key: name, per: 1 }))
  return quotas.get(name)
}
