// A request is tried again only while few others to its cluster are.
// Imported only where the model has this feature. Each thread counts for itself.

import config from './config.js'
import { createBudget } from './budget.js'

var budgets = {}

var $isRetried

// Asked before a request of this cluster is tried again.
export function createGuard(cluster) {
  var budget = findBudget(cluster)
  return function () {
    $isRetried = budget.take()
    return $isRetried
  }
}

// Has the pipeline of a cluster count the requests that are under way.
export function countRequests($, cluster) {
  var counts = findBudget(cluster).counts
  return $
    .onStart(
      function () {
        counts.requests++
      }
    )
    .onEnd(
      function () {
        counts.requests--
        if ($isRetried) counts.retries--
      }
    )
}

function findBudget({ name, retryBudget }) {
  if (!budgets[name]) budgets[name] = createBudget(retryBudget ?? config.features['retry-budget'])
  return budgets[name]
}
