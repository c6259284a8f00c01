// A line of JSON on stdout for each request, with the fields that a mesh logs by default.
// Imported only where the model has this feature. A request whose client goes away before its answer has no line.

import { mendLine } from './json-line.js'
import { findTriedAddress } from './upstream.js'

var logger = new logging.BinaryLogger('access').toStdout()

var $head
var $startMs
var $received
var $status
var $firstByteMs
var $sent
var $isRefused

export function wrap(next, { cluster }) {
  // Of several endpoints, the way itself knows which it tried.
  var only = cluster && cluster.endpoints.length === 1 ? cluster.endpoints[0] : null
  var upstreamHost = only ? `${only.address}:${only.port}` : null

  return $ => next(
    $.handleMessageStart(
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
  )
    .handleMessageStart(
      function (start) {
        $status = start.head.status
        $isRefused = start.head.isRefusal
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
        // Of a try that is made again, the end alone comes through.
        if (!$status) return
        var { method, path, headers } = $head
        var host = headers.host
        var agent = headers['user-agent']
        var id = headers['x-request-id']
        var forwarded = headers['x-forwarded-for']
        var line = JSON.encode({
          start_time: new Date($startMs).toISOString(),
          method,
          path,
          protocol: $head.protocol || 'HTTP/2',
          authority: host,
          response_code: $status,
          bytes_received: $received,
          bytes_sent: $sent,
          duration: Date.now() - $startMs,
          time_to_first_byte: $firstByteMs - $startMs,
          upstream_cluster: cluster ? cluster.name : null,
          upstream_host: $isRefused ? null : upstreamHost || findTriedAddress(),
          x_forwarded_for: forwarded || null,
          user_agent: agent || null,
          request_id: id || null,
        })
        var isAsItIs = isPlain(`${method} ${path} ${host} ${forwarded} ${agent} ${id}`)
        logger.log(isAsItIs ? line : mendLine(line.toArray()))
      }
    )
}

// Whether Pipy encodes a text right: it has as many bytes as characters, and no control byte.
function isPlain(text) {
  var data = JSON.encode(text)
  if (data.size !== text.length + 2) return false
  try {
    JSON.decode(data)
    return true
  } catch {
    return false
  }
}
