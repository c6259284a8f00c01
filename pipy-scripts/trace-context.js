// @ts-nocheck: a Pipy script
// The header traceparent (W3C Trace Context, version 00): version-traceId-spanId-flags, in hexadecimal digits.
// Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

var BYTES = new Array(256).fill(0).map((_, byte) => (256 + byte).toString(16).substring(1))

// createUuid: random, as 8-4-4-4-12 digits. Returns a function that takes the start of a request: its header goes on with
// the same trace and flags, and another span. A new trace where none came in; a header that cannot be read stays as it is.
// Spans and new traces have digits of the worker, at random, and eight that count: random ones cost twice as much. Those
// that count come first in the digits by which others draw a sample of traces, the last 14, and the fastest first of all.
export function createTracer(createUuid) {
  var worker = createUuid().replaceAll('-', '')
  var spans = 0
  // A number of a span without its last byte. What goes before and after that byte in a new trace, and before it in a span.
  var traceBegin = `00-${worker.substring(0, 18)}`
  var traceEnd
  var spanBegin

  function beginBytes() {
    var counted = `${BYTES[spans >> 8 & 255]}${BYTES[spans >> 16 & 255]}${BYTES[spans >> 24 & 255]}`
    spanBegin = `-${worker.substring(0, 8)}${counted}`
    traceEnd = `${counted}${worker.substring(18, 24)}${spanBegin}`
  }
  beginBytes()

  return function (start) {
    var headers = start.head.headers
    var parent = headers.traceparent
    spans = spans + 1
    if ((spans & 255) === 0) beginBytes()
    var byte = BYTES[spans & 255]
    if (!parent) {
      headers.traceparent = `${traceBegin}${byte}${traceEnd}${byte}-00`
      return
    }
    var parts = parent.split('-')
    if (parts.length === 4 && parts[0] === '00' && parts[1].length === 32 && parts[2].length === 16) {
      headers.traceparent = `00-${parts[1]}${spanBegin}${byte}-${parts[3]}`
    }
  }
}
