// A line of JSON on stdout for each request, with the fields that a mesh logs by default.
// Imported only where the model has this feature. A request whose client goes away before its answer has no line.

import { findTriedAddress } from './upstream.js'

var logger = new logging.JSONLogger('access').toStdout()

var $head
var $startMs
var $received
var $status
var $firstByteMs
var $sent
var $host

// Innermost, so that a request that another feature refuses has no host: it was sent nowhere.
export function wrapUpstream(upstream, { endpoints }) {
  // Of several, the way itself knows which it tried.
  if (endpoints.length > 1) return upstream
  var only = `${endpoints[0].address}:${endpoints[0].port}`
  return pipeline($=>$
    .onStart(
      function () {
        $host = only
      }
    )
    .pipe(upstream)
  )
}

export function wrap(next, { cluster }) {
  return pipeline($=>$
    .handleMessageStart(
      function (start) {
        $head = start.head
        $startMs = Date.now()
        $received = 0
        $sent = 0
      }
    )
    .handleData(
      function (data) {
        $received += data.size
      }
    )
    .pipe(next)
    .handleMessageStart(
      function (start) {
        $status = start.head.status
        $firstByteMs = Date.now()
      }
    )
    .handleData(
      function (data) {
        $sent += data.size
      }
    )
    .handleMessageEnd(
      function () {
        var headers = $head.headers
        logger.log({
          start_time: new Date($startMs).toISOString(),
          method: $head.method,
          path: $head.path,
          protocol: $head.protocol || 'HTTP/2',
          authority: headers.host,
          response_code: $status,
          bytes_received: $received,
          bytes_sent: $sent,
          duration: Date.now() - $startMs,
          time_to_first_byte: $firstByteMs - $startMs,
          upstream_cluster: cluster && cluster.name,
          upstream_host: $host || findTriedAddress(),
          x_forwarded_for: headers['x-forwarded-for'] || null,
          user_agent: headers['user-agent'] || null,
          request_id: headers['x-request-id'] || null,
        })
      }
    )
  )
}
