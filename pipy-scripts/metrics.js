// Requests and their durations by route, at /metrics of a port of its own for Prometheus.
// Imported only where the model has this feature. Pipy's administration port has metrics, too, but can also change
// the scripts; and its histograms are not cumulative. So durations are counters here, one a bucket.

import config from './config.js'

// What is counted for a request is a number in an array: a call of a counter's function costs as much as eight look-ups.
// Pipy is shown the numbers when it asks for them.
// The buckets of longer durations, which are rare, are searched.
var MOST_MS = 1000

var limitsMs = config.features.metrics.bucketsMs.concat([Infinity])
var labels = limitsMs.map(limit => limit === Infinity ? '+Inf' : limit)
var bucketByMs = new Array(MOST_MS).fill(0).map((_, ms) => findBucket(ms))
var now = Date.now

// Statuses that were answered, and by each its place in the list.
var statuses = []
var placeByStatus = new Array(600)
// By the names of the routes.
var counts = {}
var requests = new stats.Gauge('requests', ['route', 'code'], () => Object.values(counts).forEach(showCounts))
var durations = new stats.Gauge('durations', ['route', 'le'])
var sums = new stats.Gauge('sums', ['route'])

var $startMs
var $isAnswered

export function wrap(next, { route }) {
  // What no route matches is of no route.
  if (!route) return next
  var ofRoute = findCounts(route.name)
  var byStatus = ofRoute.byStatus
  var byBucket = ofRoute.byBucket

  return $ => next(
    $.handleMessageStart(
      function () {
        $startMs = now()
      }
    )
  )
    .handleMessageStart(
      function (start) {
        $isAnswered = true
        var status = start.head.status
        byStatus[placeByStatus[status] ?? addStatus(status)]++
      }
    )
    .handleMessageEnd(
      function () {
        // Of a try that is made again the end alone comes through, and of one that is answered for there are two.
        if (!$isAnswered) return
        $isAnswered = false
        var ms = now() - $startMs
        byBucket[bucketByMs[ms] ?? findBucket(ms)]++
        ofRoute.sumMs += ms
      }
    )
}

function findBucket(ms) {
  return limitsMs.findIndex(limit => ms <= limit)
}

function findCounts(name) {
  if (!counts[name]) {
    counts[name] = { name, sumMs: 0, byStatus: statuses.map(() => 0), byBucket: labels.map(() => 0) }
  }
  return counts[name]
}

function addStatus(status) {
  placeByStatus[status] = statuses.length
  statuses.push(status)
  Object.values(counts).forEach(ofRoute => ofRoute.byStatus.push(0))
  return placeByStatus[status]
}

function showCounts({ name, sumMs, byStatus, byBucket }) {
  byStatus.forEach((count, i) => count > 0 && requests.withLabels(name, statuses[i]).set(count))
  byBucket.forEach((count, i) => durations.withLabels(name, labels[i]).set(count))
  sums.withLabels(name).set(sumMs)
}

pipy.listen(`${config.admin.address}:${config.admin.port}`, $=>$
  .serveHTTP(
    () => stats.sum(['requests', 'durations', 'sums']).then(
      all => new Message({ headers: { 'content-type': 'text/plain; version=0.0.4' } }, render(all))
    )
  )
)

function render({ requests, durations, sums }) {
  var lines = ['# TYPE sidecar_requests_total counter']
  requests.submetrics().forEach(
    route => route.submetrics().forEach(
      code => lines.push(`sidecar_requests_total{route="${route.label}",code="${code.label}"} ${code.value}`)
    )
  )
  lines.push('# TYPE sidecar_request_duration_ms histogram')
  durations.submetrics().forEach(
    function (route) {
      // A sum has its metrics in no order.
      var byLabel = {}
      route.submetrics().forEach(bucket => byLabel[bucket.label] = bucket.value)
      var count = 0
      labels.forEach(
        function (label) {
          count += byLabel[label]
          lines.push(`sidecar_request_duration_ms_bucket{route="${route.label}",le="${label}"} ${count}`)
        }
      )
      lines.push(`sidecar_request_duration_ms_count{route="${route.label}"} ${count}`)
    }
  )
  sums.submetrics().forEach(
    route => lines.push(`sidecar_request_duration_ms_sum{route="${route.label}"} ${route.value}`)
  )
  return lines.join('\n') + '\n'
}
