import config from './config.js'
import { listen } from './listen.js'
import { createProxy } from './proxy.js'
import { createTLSOptions } from './tls.js'

var $protocol

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
