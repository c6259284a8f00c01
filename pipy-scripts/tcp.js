// The sidecar that carries bytes, run instead of main.js: each port has one cluster, and nothing is parsed.

import config from './config.js'
import { listen } from './listen.js'
import { createTLSOptions } from './tls.js'

var connectOptions = {
  connectTimeout: config.timeouts.connectSeconds,
  idleTimeout: config.timeouts.idleSeconds,
  retryCount: config.retries,
  retryDelay: 0.001,
}

var $endpoint
var $protocol
var $secured
var $settle

var ways = {}
config.clusters.forEach(c => ways[c.name] = createWay(c))

if (config.inbound) listenForAll(config.inbound, createEntry)
if (config.outbound) listenForAll(config.outbound, beginAtOnce)

function listenForAll(listener, wrap) {
  listener.routes.forEach(
    function (route) {
      var own = Object.assign({}, listener, { port: route.port || listener.port })
      listen(own, wrap(ways[route.split[0].cluster]))
    }
  )
}

// Who may come in: by mTLS, without, or either, told by the first bytes.
function createEntry(way) {
  var { mtls, acceptedIdentities } = config.inbound
  var tls = createTLSOptions(acceptedIdentities)
  var strict = pipeline($=>$.acceptTLS(tls).to(way))
  var permissive = pipeline($=>$
    .detectProtocol(protocol => $protocol = protocol)
    .pipe(() => $protocol === undefined ? undefined : $protocol === 'TLS' ? strict : way)
  )
  return { strict, permissive, disabled: beginAtOnce(way) }[mtls]
}

// The upstream may speak first, and Pipy connects to it at the first event. (acceptTLS has one when its handshake is done.)
function beginAtOnce(way) {
  return pipeline($=>$.onStart(() => new Data).pipe(way))
}

// A connection to an endpoint of a cluster for each that comes in.
function createWay(cluster) {
  var algorithm = cluster.balancing === 'least-requests' ? 'least-load' : 'round-robin'
  var balancer = new algo.LoadBalancer(cluster.endpoints.map(e => `${e.address}:${e.port}`), { algorithm })
  var connect = pipeline($=>$.connect(() => $endpoint.target, connectOptions))

  return pipeline($=>$
    .onStart(
      function () {
        $endpoint = balancer.allocate()
      }
    )
    .pipe(cluster.mtls ? secure(cluster.mtls, connect) : connect)
    .onEnd(() => $endpoint.free())
  )
}

// Pipy drops what it has not sent when the client ends its half before the handshake is done: the end waits for that.
function secure({ acceptedIdentities, serverName }, connect) {
  var tls = Object.assign(createTLSOptions(acceptedIdentities), {
    sni: serverName,
    onState: session => session.state === 'connected' && $settle(),
  })
  return pipeline($=>$
    .onStart(
      function () {
        $secured = new Promise(settle => $settle = settle)
      }
    )
    .replaceStreamEnd(end => $secured.then(() => end))
    .connectTLS(tls).to(connect)
  )
}
