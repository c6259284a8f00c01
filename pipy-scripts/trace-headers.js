// W3C Trace Context: a request goes on in the trace that it came in, or in a new one, and is a span of its own there.
// Imported only where the model has this feature. No span is reported.

import { createTracer } from './trace-context.js'

var continueTrace = createTracer(algo.uuid)

export function wrap(next) {
  return $ => next(
    $.handleMessageStart(continueTrace)
  )
}
