// @ts-nocheck: a Pipy script
// Which route a request takes: the first in the list whose host, path prefix and headers all match.
// Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

// routes: [{ host, pathPrefix, headers, ... }], host null for any. Gives
//   find: head => route, or undefined;
//   only: the route that takes every request, if there is one;
//   byHost: { host: route }, of the hosts whose requests all take one route.
// With the last two, the usual request needs no call of a function: one costs more than many look-ups.
export function createRouter(routes) {
  var matchAny = createMatcher(routes.filter(r => r.host === null))
  var matchers = new Map()
  var byHost = {}

  routes.forEach(
    function ({ host }) {
      if (host === null || matchers.has(host)) return
      var ofHost = routes.filter(r => r.host === null || r.host === host)
      matchers.set(host, createMatcher(ofHost))
      // A request without a host is looked up by that name, too.
      if (isUnconditional(ofHost[0]) && host !== 'undefined') byHost[host] = ofHost[0]
    }
  )

  function find(head) {
    var host = head.headers.host || ''
    var match = matchers.get(host) || matchers.get(normalizeHost(host)) || matchAny
    return match(head)
  }

  return {
    find: matchers.size > 0 ? find : matchAny,
    only: routes.slice(0, 1).find(r => r.host === null && isUnconditional(r)),
    byHost,
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
