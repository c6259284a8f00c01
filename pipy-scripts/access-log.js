// A line of JSON on stdout for each request, with the fields that a mesh logs by default.
// Imported only where the model has this feature. A request whose client goes away before its answer has no line.
//
// What a line costs decides how it is made. Pipy keeps each text once, and has to find it when it is made anew: so a line
// is never one text, but pieces that the logger copies one after another. The pieces that repeat are made once.

import { mendLine } from './json-line.js'
import { findTriedAddress } from './upstream.js'

// Numbers beyond are written anew.
var MOST_NUMBERS = 4096
// Texts beyond are forgotten, and learnt again; longer ones are not learnt.
var MOST_TEXTS = 1000
var LONGEST_TEXT = 256

var log = new logging.BinaryLogger('access').toStdout().log
var now = Date.now
var encode = URL.encode

var numbers = new Array(MOST_NUMBERS)
// Milliseconds, in three digits.
var thousandths = new Array(1000).fill(0).map((_, ms) => `${1000 + ms}`.substring(1))
// The second of the last line: its begin, and its text.
var secondMs = 0
var second = ''
var texts
var textCount
forgetTexts()

var $head
var $startMs
var $received
var $status
var $isRefused
var $firstByteMs
var $sent

export function wrap(next, { cluster }) {
  var upstreamCluster = `,"upstream_cluster":${quote(cluster && cluster.name)},"upstream_host":`
  // Of several endpoints, the way itself knows which it tried.
  var only = cluster && cluster.endpoints.length === 1 ? cluster.endpoints[0] : null
  var upstreamHost = only ? quote(`${only.address}:${only.port}`) : null

  return $ => next(
    $.handleMessageStart(
      function (start) {
        $head = start.head
        $startMs = now()
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
        var head = start.head
        $status = head.status
        $isRefused = head.isRefusal
        $firstByteMs = now()
      }
    )
    .handleData(
      function (data) {
        $sent += data.size
      }
    )
    .handleMessageEnd(
      function () {
        // Of a try that is made again the end alone comes through, and of one that is answered for there are two.
        if (!$status) return
        var path = $head.path
        var headers = $head.headers
        var protocol = $head.protocol || 'HTTP/2'
        var authority = headers.host
        var forwarded = headers['x-forwarded-for']
        var agent = headers['user-agent']
        var id = headers['x-request-id']
        var duration = now() - $startMs
        var firstByte = $firstByteMs - $startMs
        if ($startMs < secondMs || $startMs >= secondMs + 1000) beginSecond($startMs)
        log(
          '{"start_time":"', second, thousandths[$startMs - secondMs],
          'Z","method":', texts[$head.method] || learn($head.method),
          ',"path":"', encode(path) === path ? path : escape(path),
          '","protocol":', texts[protocol] || learn(protocol),
          ',"authority":', authority ? texts[authority] || learn(authority) : 'null',
          ',"response_code":', numbers[$status] || write($status),
          ',"bytes_received":', numbers[$received] || write($received),
          ',"bytes_sent":', numbers[$sent] || write($sent),
          ',"duration":', numbers[duration] || write(duration),
          ',"time_to_first_byte":', numbers[firstByte] || write(firstByte),
          upstreamCluster,
          $isRefused ? 'null' : upstreamHost || quote(findTriedAddress()),
          ',"x_forwarded_for":', forwarded ? texts[forwarded] || learn(forwarded) : 'null',
          ',"user_agent":', agent ? texts[agent] || learn(agent) : 'null',
          ',"request_id":', id ? quote(id) : 'null',
          '}'
        )
        $status = 0
      }
    )
}

function beginSecond(ms) {
  secondMs = ms - ms % 1000
  second = new Date(secondMs).toISOString().substring(0, 20)
}

function write(number) {
  var text = `${number}`
  if (number < MOST_NUMBERS) numbers[number] = text
  return text
}

function learn(text) {
  var quoted = quote(text)
  if (quoted.length > LONGEST_TEXT) return quoted
  if (textCount === MOST_TEXTS) forgetTexts()
  textCount++
  texts[text] = quoted
  return quoted
}

function forgetTexts() {
  // Without these two, each object would have them as methods.
  texts = { toString: null, valueOf: null }
  textCount = 0
}

// The characters of a URL need no escapes; what Pipy does not escape as JSON does is mended.
function quote(text) {
  if (!text) return 'null'
  if (encode(text) === text) return `"${text}"`
  var data = JSON.encode(text)
  return isPlain(text, data) ? data.toString() : new Data(mendLine(data.toArray())).toString()
}

// Whether Pipy encoded a text right: it has as many bytes as characters, and no control byte.
function isPlain(text, data) {
  if (data.size !== text.length + 2) return false
  try {
    JSON.decode(data)
    return true
  } catch {
    return false
  }
}

function escape(text) {
  return quote(text).slice(1, -1)
}
