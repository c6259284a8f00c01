// Where a sidecar takes connections.

import config from './config.js'

var socketOptions = { idleTimeout: config.timeouts.idleSeconds }
var redirectedOptions = Object.assign({ transparent: true }, socketOptions)

var $isMeant

// Connections that rules redirect here are served where they mean one of the ports, and closed where they do not.
export function listen({ address, port, redirectedPorts }, way) {
  if (!redirectedPorts) return pipy.listen(`${address}:${port}`, socketOptions, way)
  // The first connection of a listener has no options yet (src/listener.cpp of 1.5 and 2.0), and so means port 0.
  var isMeant = new Map([0].concat(redirectedPorts).map(p => [p, true]))
  var refused = pipeline($=>$.replaceData(() => new StreamEnd))
  pipy.listen(`${address}:${port}`, redirectedOptions, $=>$
    .onStart(
      function (inbound) {
        $isMeant = isMeant.has(inbound.destinationPort)
      }
    )
    .pipe(() => $isMeant ? way : refused)
  )
}
