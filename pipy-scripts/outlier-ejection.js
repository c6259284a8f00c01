// An endpoint that fails so often in a row gets no requests for a time, as long as enough others serve.
// Imported only where the model has this feature. Each thread counts for itself.

import config from './config.js'
import { createOutliers } from './outliers.js'

// A balancer of the endpoints that serve, made anew when they change: an endpoint that comes back to an old one would
// be given all the requests that it has missed.
export function createEjectingBalancer(cluster, endpoints, createBalancer) {
  var outliers = createOutliers(endpoints, cluster.ejection ?? config.features['outlier-ejection'])
  var balancer = createBalancer(endpoints)
  var nextReturnMs = Infinity

  function renew() {
    balancer = createBalancer(outliers.listServing())
    nextReturnMs = outliers.findNextReturn()
  }

  function allocate() {
    if (nextReturnMs < Infinity && nextReturnMs <= Date.now()) {
      outliers.restore(Date.now())
      renew()
    }
    return balancer.allocate()
  }

  function note(endpoint, status) {
    if (outliers.note(endpoint, status, Date.now())) renew()
  }

  return { allocate, note }
}
