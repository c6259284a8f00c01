// Which peers a route takes requests from, by the identity of their certificate; others are answered 403.
// Imported only where the model has this feature.

import { refuse } from './upstream.js'

var refused = refuse(403, 'the route does not allow this peer')

var $peer

// Has a listener note who the peer is: once a connection, for all of its requests.
export function notePeer(options) {
  options.onState = function (session) {
    if (session.state === 'connected') $peer = session.peer.subject.commonName
  }
}

export function wrap(next, { route }) {
  if (!route || !route.allowedIdentities) return next
  var allowed = new Map(route.allowedIdentities.map(i => [i, true]))
  var passed = pipeline(next)
  return $ => $.pipe(() => allowed.has($peer) ? passed : refused)
}
