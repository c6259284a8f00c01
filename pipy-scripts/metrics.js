// Requests and their durations by route, at /metrics of a port of its own for Prometheus.
// Imported only where the model has this feature. Pipy's administration port has metrics, too, but can also change
// the scripts; and its histograms are not cumulative. So durations are counters here, one a bucket.

import config from './config.js'

var limitsMs = config.features.metrics.bucketsMs.concat([Infinity])
var requests = new stats.Counter('requests', ['route', 'code'])
var durations = new stats.Counter('durations', ['route', 'le'])
var sums = new stats.Counter('sums', ['route'])

var $startMs
var $isAnswered

export function wrap(next, { route }) {
  // What no route matches is of no route.
  if (!route) return next
  var name = route.name
  var buckets = limitsMs.map(limit => durations.withLabels(name, limit === Infinity ? '+Inf' : limit))
  var sum = sums.withLabels(name)

  return $ => next(
    $.handleMessageStart(
      function () {
        $startMs = Date.now()
      }
    )
  )
    .handleMessageStart(
      function (start) {
        $isAnswered = true
        requests.withLabels(name, start.head.status).increase()
      }
    )
    .handleMessageEnd(
      function () {
        // Of a try that is made again, the end alone comes through.
        if (!$isAnswered) return
        var ms = Date.now() - $startMs
        for (var i = 0; ms > limitsMs[i]; i++) {}
        buckets[i].increase()
        sum.increase(ms)
      }
    )
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
      var count = 0
      route.submetrics().forEach(
        function (bucket) {
          count += bucket.value
          lines.push(`sidecar_request_duration_ms_bucket{route="${route.label}",le="${bucket.label}"} ${count}`)
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
