import config from './config.js'
import { createProxy } from './proxy.js'
import { createTLSOptions } from './tls.js'

var socketOptions = { idleTimeout: config.timeouts.idleSeconds }
var redirectedOptions = Object.assign({ transparent: true }, socketOptions)

var $protocol
var $isMeant

if (config.inbound) {
  var { mtls, acceptedIdentities, routes } = config.inbound
  var plaintext = createProxy(routes)
  var tls = createTLSOptions(acceptedIdentities)
  var verified = config.features.authorization
    ? pipy.import('./authorization.js').createProxyByPeer(createProxy, routes, tls)
    : plaintext
  var strict = pipeline($=>$.acceptTLS(tls).to(verified))
  var permissive = pipeline($=>$
    .detectProtocol(protocol => $protocol = protocol)
    .pipe(() => $protocol === undefined ? undefined : $protocol === 'TLS' ? strict : plaintext)
  )

  listen(config.inbound, { strict, permissive, disabled: plaintext }[mtls])
}

if (config.outbound) listen(config.outbound, createProxy(config.outbound.routes))

// Connections that rules redirect here are served where they mean one of the ports, and closed where they do not.
function listen({ address, port, redirectedPorts }, proxy) {
  if (!redirectedPorts) return pipy.listen(`${address}:${port}`, socketOptions, proxy)
  // The first connection of a listener has no options yet (src/listener.cpp of 1.5 and 2.0), and so means port 0.
  var isMeant = new Map([0].concat(redirectedPorts).map(p => [p, true]))
  var refused = pipeline($=>$.replaceData(() => new StreamEnd))
  pipy.listen(`${address}:${port}`, redirectedOptions, $=>$
    .onStart(
      function (inbound) {
        $isMeant = isMeant.has(inbound.destinationPort)
      }
    )
    .pipe(() => $isMeant ? proxy : refused)
  )
}
