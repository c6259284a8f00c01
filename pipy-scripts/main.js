import config from './config.js'
import { createProxy } from './proxy.js'
import { createTLSOptions } from './tls.js'

var socketOptions = { idleTimeout: config.timeouts.idleSeconds }

var $protocol

if (config.inbound) {
  var { address, port, mtls, acceptedIdentities, routes } = config.inbound
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

  pipy.listen(`${address}:${port}`, socketOptions, { strict, permissive, disabled: plaintext }[mtls])
}

if (config.outbound) {
  pipy.listen(`${config.outbound.address}:${config.outbound.port}`, socketOptions, createProxy(config.outbound.routes))
}
