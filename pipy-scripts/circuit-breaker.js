// So many requests at a time to each cluster; those beyond are answered 503 at once.
// Imported only where the model has this feature.

import config from './config.js'
import { refuse } from './upstream.js'

var refused = refuse(503, 'too many requests to the cluster at a time')
var quotas = {}

// Pipy's own filter takes a place and gives it back; the script only looks whether there is one. Of two threads that
// see the last place, one waits for the other.
export function wrap(next, { cluster }) {
  if (!cluster) return next
  var places = findPlaces(cluster)
  var guarded = pipeline($ => next($.throttleConcurrency(places)))
  return $ => $.pipe(() => places.current > 0 ? guarded : refused)
}

// One count for a cluster, whatever route its requests take. Threads share it by its key.
function findPlaces({ name, maxRequests }) {
  var most = maxRequests ?? config.features['circuit-breaker'].maxRequests
  if (!quotas[name]) quotas[name] = new algo.Quota(most, { key: `requests to ${name}` })
  return quotas[name]
}
