// What happens to one request: a route, one of its clusters by weight, and the way there.

import config from './config.js'
import { createRouter } from './router.js'
import { createUpstream, reply } from './upstream.js'

var upstreams = {}
config.clusters.forEach(c => upstreams[c.name] = createUpstream(c))

var notFound = pipeline($=>$.replaceMessage(reply(404, 'no route matches')))

export function createProxy(routes) {
  var find = createRouter(
    routes.map(
      route => Object.assign({}, route, {
        upstream: route.split.length === 1 ? upstreams[route.split[0].cluster] : null,
        balancer: new algo.LoadBalancer(route.split, { weight: s => s.weight }),
      })
    )
  )

  return pipeline($=>$
    .demuxHTTP({ bufferSize: 16384 }).to($=>$
      .pipe(
        function (start) {
          var route = find(start.head)
          return route ? route.upstream || pickUpstream(route.balancer) : notFound
        }
      )
    )
  )
}

// Weighted round robin. Freed at once: a resource held would only make the balancer keep another.
function pickUpstream(balancer) {
  var resource = balancer.allocate()
  resource.free()
  return upstreams[resource.target.cluster]
}
