// @ts-nocheck: a Pipy script
// The header traceparent (W3C Trace Context, version 00): version-traceId-spanId-flags, in hexadecimal digits.
// Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

// parent: what came in, if anything. createUuid: random, as 8-4-4-4-12 digits.
// Returns what goes on: the same trace and flags, and another span. A header that cannot be read is passed on as it is.
export function continueTrace(parent, createUuid) {
  var own = createUuid().split('-')
  // A trace's first span may share digits with it: it has to differ from the other spans of that trace alone.
  if (!parent) return `00-${own.join('')}-${createSpanId(own)}-00`
  var parts = parent.split('-')
  var isRead = parts.length === 4 && parts[0] === '00' && parts[1].length === 32 && parts[2].length === 16
  return isRead ? `00-${parts[1]}-${createSpanId(own)}-${parts[3]}` : parent
}

// Of the digits that are all random.
function createSpanId(parts) {
  return parts[4] + parts[1]
}
