// Which peers a route takes requests from, by the identity of their certificate; others are answered 403.
// Imported only where the model has this feature.

import { refuse } from './upstream.js'

var refused = refuse(403, 'the route does not allow this peer')

var $peer

// A peer is looked up once a connection: those that the same routes allow share a proxy, which asks no more.
// createProxy: (routes, peer) => the proxy of a peer
export function createProxyByPeer(createProxy, routes, tlsOptions) {
  var proxies = {}
  var byPeer = new Map()
  function findProxy(peer) {
    var key = routes.map(route => isAllowed(route, peer)).join()
    if (!proxies[key]) proxies[key] = createProxy(routes, peer)
    return proxies[key]
  }
  var others = findProxy(null)
  routes.forEach(route => (route.allowedIdentities || []).forEach(peer => byPeer.set(peer, findProxy(peer))))

  tlsOptions.onState = function (session) {
    if (session.state === 'connected') $peer = session.peer.subject.commonName
  }
  return pipeline($=>$.pipe(() => byPeer.get($peer) ?? others))
}

export function wrap(next, { route, peer }) {
  return !route || isAllowed(route, peer) ? next : $ => $.pipe(refused)
}

function isAllowed({ allowedIdentities }, peer) {
  return !allowedIdentities || allowedIdentities.includes(peer)
}
