// What happens to one request: a route, one of its clusters by weight, and the way there.

import config, { bufferSize } from './config.js'
import { createRouter } from './router.js'
import { createUpstream, reply } from './upstream.js'

// What the model switches on, each in a file of its own that is read only then.
var features = Object.keys(config.features).map(name => pipy.import(`./${name}.js`))

var clusters = {}
config.clusters.forEach(c => clusters[c.name] = c)
var upstreams = {}
config.clusters.forEach(c => upstreams[c.name] = createUpstream(c))

var notFound = withFeatures(pipeline($=>$.replaceMessage(reply(404, 'no route matches'))), {})

// peer: the identity of those whose connections take this proxy, where a feature asks for it.
export function createProxy(routes, peer) {
  var { find, only, byHost } = createRouter(
    routes.map(
      route => Object.assign({}, route, {
        upstream: route.split.length === 1 ? createWay(route, route.split[0].cluster, peer) : null,
        balancer: new algo.LoadBalancer(
          route.split.map(s => ({ weight: s.weight, upstream: createWay(route, s.cluster, peer) })),
          { weight: s => s.weight }
        ),
      })
    )
  )

  function choose(head) {
    var route = find(head)
    return route ? route.upstream || pickUpstream(route.balancer) : notFound
  }

  // No host may find the two methods that an object has in Pipy.
  var ways = { toString: null, valueOf: null }
  Object.entries(byHost).forEach(entry => ways[entry[0]] = entry[1].upstream)

  // Where one route takes all to one cluster, nothing is chosen for a request.
  var way = only?.upstream || pipeline($=>$
    .pipe(start => ways[start.head.headers.host] || choose(start.head))
  )

  return pipeline($=>$
    .demuxHTTP({ bufferSize }).to(way)
  )
}

// Weighted round robin. Freed at once: a resource held would only make the balancer keep another.
function pickUpstream(balancer) {
  var resource = balancer.allocate()
  resource.free()
  return resource.target.upstream
}

// From a route to one of its clusters.
function createWay(route, cluster, peer) {
  return withFeatures(upstreams[cluster], { route, cluster: clusters[cluster], peer })
}

// The first feature sees a request first. Each adds its filters around those of the next, in one pipeline: another
// pipeline costs a request more than a filter. Without any, a way stays as it is.
function withFeatures(way, at) {
  var first = $ => $.pipe(way)
  var add = first
  for (var i = features.length - 1; i >= 0; i--) {
    if (features[i].wrap) add = features[i].wrap(add, at)
  }
  return add === first ? way : pipeline(add)
}
