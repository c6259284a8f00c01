// @ts-nocheck: a Pipy script
// Which route a request takes: the first in the list whose host, path prefix and headers all match.
// Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

// routes: [{ host, pathPrefix, headers, ... }], host null for any. Returns head => route, or undefined.
// Routes are grouped by host once, so that a thousand services cost a request one look-up.
export function createRouter(routes) {
  var anyHost = routes.filter(r => r.host === null)
  var matchAny = createMatcher(anyHost)
  var byHost = new Map()

  routes.forEach(
    function (route) {
      if (route.host !== null && !byHost.has(route.host)) {
        byHost.set(route.host, createMatcher(routes.filter(r => r.host === null || r.host === route.host)))
      }
    }
  )

  if (byHost.size === 0) return matchAny

  return function (head) {
    var host = head.headers.host || ''
    var match = byHost.get(host) || byHost.get(normalizeHost(host)) || matchAny
    return match(head)
  }
}

function createMatcher(routes) {
  if (routes.length > 0 && isUnconditional(routes[0])) {
    var only = routes[0]
    return () => only
  }
  return head => routes.find(route => matches(route, head))
}

function isUnconditional(route) {
  return route.pathPrefix === '/' && Object.keys(route.headers).length === 0
}

function matches(route, head) {
  return head.path.startsWith(route.pathPrefix) &&
    Object.entries(route.headers).every(entry => head.headers[entry[0]] === entry[1])
}

// Without the port, in lower case: as Envoy compares (ignore_port_in_host_matching).
function normalizeHost(host) {
  return host.split(':')[0].toLowerCase()
}
