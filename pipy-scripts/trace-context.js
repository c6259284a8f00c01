// @ts-nocheck: a Pipy script
// The header traceparent (W3C Trace Context, version 00): version-traceId-spanId-flags, in hexadecimal digits.
// Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

var BYTES = new Array(256).fill(0).map((_, byte) => (256 + byte).toString(16).substring(1))

// createUuid: random, as 8-4-4-4-12 digits. Returns
//   parent => what goes on: the same trace and flags, and another span. A new trace where none came in; a header that
//   cannot be read is passed on as it is.
// Spans have eight digits of the worker, at random, and eight that count: random ones cost twice as much.
export function createTracer(createUuid) {
  var worker = createUuid().substring(0, 8)
  var spans = 0

  return function (parent) {
    var traceId
    var flags = '00'
    if (parent) {
      var parts = parent.split('-')
      if (parts.length !== 4 || parts[0] !== '00' || parts[1].length !== 32 || parts[2].length !== 16) return parent
      traceId = parts[1]
      flags = parts[3]
    } else {
      traceId = createUuid().replaceAll('-', '')
    }
    spans = spans + 1
    // In one template: each text that is made costs as much as all of these look-ups.
    return `00-${traceId}-${worker}${BYTES[spans >> 24 & 255]}${BYTES[spans >> 16 & 255]}${BYTES[spans >> 8 & 255]}${
      BYTES[spans & 255]
    }-${flags}`
  }
}
