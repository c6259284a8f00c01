// @ts-nocheck: a Pipy script
// The header traceparent (W3C Trace Context, version 00): version-traceId-spanId-flags, in hexadecimal digits.
// Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

var BYTES = new Array(256).fill(0).map((_, byte) => (256 + byte).toString(16).substring(1))

// createUuid: random, as 8-4-4-4-12 digits. Returns a function that takes the start of a request: its header goes on with
// the same trace and flags, and another span. A new trace where none came in; a header that cannot be read stays as it is.
//
// Random texts cost much. So a span has eight digits of the worker and eight that count; and 256 spans share the random
// digits of their new traces, in which two bytes that count stand where others begin to read a number to sample by: 16 or
// 14 digits before the end.
export function createTracer(createUuid) {
  var worker = createUuid().substring(0, 8)
  var spans = 0
  var salt
  var traceBegin
  var traceEnd
  var spanBegin

  function beginBytes() {
    var random = createUuid().replaceAll('-', '')
    salt = BYTES.indexOf(random.substring(30))
    spanBegin = `-${worker}${BYTES[spans >> 24 & 255]}${BYTES[spans >> 16 & 255]}${BYTES[spans >> 8 & 255]}`
    traceBegin = `00-${random.substring(0, 16)}`
    traceEnd = `${random.substring(18, 30)}${spanBegin}`
  }
  beginBytes()

  return function (start) {
    var headers = start.head.headers
    var parent = headers.traceparent
    spans = spans + 1
    if ((spans & 255) === 0) beginBytes()
    var byte = BYTES[spans & 255]
    if (!parent) {
      // Multiplied by an odd number, 256 spans have each byte once.
      headers.traceparent = `${traceBegin}${BYTES[spans * 167 + salt & 255]}${BYTES[spans + salt & 255]}${traceEnd}${byte}-00`
      return
    }
    var parts = parent.split('-')
    if (parts.length === 4 && parts[0] === '00' && parts[1].length === 32 && parts[2].length === 16) {
      headers.traceparent = `00-${parts[1]}${spanBegin}${byte}-${parts[3]}`
    }
  }
}
