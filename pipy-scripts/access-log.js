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

export function wrap(next, { cluster }) {
  var endpoints = cluster ? cluster.endpoints : []
  var only = endpoints.length === 1 ? `${endpoints[0].address}:${endpoints[0].port}` : null

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
        $host = endpoints.length > 1 ? findTriedAddress() : only
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
          upstream_host: $host,
          x_forwarded_for: headers['x-forwarded-for'] || null,
          user_agent: headers['user-agent'] || null,
          request_id: headers['x-request-id'] || null,
        })
      }
    )
  )
}
