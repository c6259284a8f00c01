// The way to one cluster: an endpoint, its pooled connections, one more try when a connection is
// refused, and the answers that stand for a failure.
//
// What a request costs decides the shape: only the function marked (*) runs for every request to a cluster of
// one endpoint. Everything else is done once a connection, or only where there is a choice.

import config, { bufferSize } from './config.js'
import { createTLSOptions } from './tls.js'

// Less than the idle timeout, by more than the second that Pipy may be late: what ends a connection answers 504 to the request
// that has just taken it. Pipy 1.5 takes a connection when a request begins, sends it when it has its whole body, and answers
// nothing where the connection ended between.
var maxIdle = Math.max(config.timeouts.requestSeconds / 2, config.timeouts.requestSeconds - 3)

var muxOptions = {
  'http/1.1': { bufferSize, maxQueue: 1, maxIdle },
  // Only Pipy 2.0 is given this: 1.5 mixes up bodies on a connection that many requests share.
  'http/2': { bufferSize, version: 2, maxIdle },
}

// What the model switches on of retries and endpoints.
var load = name => config.features[name] ? pipy.import(`./${name}.js`) : null
var ejection = load('outlier-ejection')
var budget = load('retry-budget')

var $endpoint
var $retries

export function createUpstream(cluster) {
  var create = cluster.endpoints.length > 1 ? createBalanced : budget ? createBudgeted : createSingle
  var upstream = create(cluster)
  if (cluster.protocol !== 'http/2') return upstream

  // HTTP/2 has no connection header. And Pipy 2.0 makes the host :authority where it stands: behind another header
  // it breaks the order that HTTP/2 asks for, and the peer closes the connection. So it goes first.
  return pipeline($=>$
    .handleMessageStart(
      function (start) {
        var headers = Object.assign({ host: '' }, start.head.headers)
        delete headers.connection
        start.head.headers = headers
      }
    )
    .pipe(upstream)
  )
}

export function reply(status, reason, isRefusal) {
  return new Message({ status, isRefusal, headers: { 'content-type': 'text/plain' } }, reason)
}

// What a feature answers to a request that it does not let pass. The access log knows it by its head.
export function refuse(status, reason) {
  return pipeline($=>$.replaceMessage(reply(status, reason, true)))
}

// One endpoint: a refused connection is tried again by the connection itself. Connections are pooled by the endpoint:
// its valueOf gives it, as a function of the script would at twice the cost.
function createSingle(cluster) {
  var endpoint = createEndpoint(cluster.endpoints[0])
  var connection = createConnection(cluster, () => endpoint.address, config.retries)

  return pipeline($=>$
    .muxHTTP(endpoint.valueOf, muxOptions[cluster.protocol]).to(connection)
    .replaceMessageStart(start => start.head.status > 400 ? answerFor(endpoint, start) : start) // (*)
  )
}

// One endpoint, and a budget: a connection that tries again by itself would not ask for it.
function createBudgeted(cluster) {
  var endpoint = createEndpoint(cluster.endpoints[0])
  var connection = createConnection(cluster, () => endpoint.address, 0)
  var mayRetry = budget.createGuard(cluster)

  return pipeline($ => budget.countRequests($, cluster)
    .repeat(isReplay).to($=>$
      .muxHTTP(endpoint.valueOf, muxOptions[cluster.protocol]).to(connection)
      .replaceMessageStart(start => start.head.status > 400 ? retryOrAnswer(endpoint, start, mayRetry) : start)
    )
  )
}

// Several: the whole request is tried again at the endpoint that is next. A lone endpoint is never ejected.
function createBalanced(cluster) {
  var connection = createConnection(cluster, () => $endpoint.target.address, 0)
  var algorithm = cluster.balancing === 'least-requests' ? 'least-load' : 'round-robin'
  var createBalancer = endpoints => new algo.LoadBalancer(endpoints, { algorithm })
  var endpoints = cluster.endpoints.map(createEndpoint)
  var balancer = ejection
    ? ejection.createEjectingBalancer(cluster, endpoints, createBalancer)
    : createBalancer(endpoints)
  var mayRetry = budget ? budget.createGuard(cluster) : () => true
  var judge = start => start.head.status > 400 ? retryOrAnswer($endpoint.target, start, mayRetry) : start

  function noteAndJudge(start) {
    balancer.note($endpoint.target, start.head.status)
    return judge(start)
  }

  return pipeline($ => (budget ? budget.countRequests($, cluster) : $)
    .repeat(isReplay).to($=>$
      .onStart(
        function () {
          $endpoint = balancer.allocate()
        }
      )
      .muxHTTP(() => $endpoint.target, muxOptions[cluster.protocol]).to(connection)
      .replaceMessageStart(ejection ? noteAndJudge : judge)
      .onEnd(() => $endpoint.free())
    )
  )
}

function isReplay(end) {
  return end.error === 'Replay'
}

function retryOrAnswer(endpoint, start, mayRetry) {
  var isRefused = isFailure(start.head) && start.head.statusText === 'Connection Refused'
  var retries = $retries || 0
  if (!isRefused || retries >= config.retries || !mayRetry()) return answerFor(endpoint, start)
  $retries = retries + 1
  return new StreamEnd('Replay')
}

function createEndpoint(endpoint) {
  return { address: `${endpoint.address}:${endpoint.port}` }
}

// Where this request was sent, of a cluster of several endpoints; null: nowhere, as another feature refused it.
export function findTriedAddress() {
  return $endpoint ? $endpoint.target.address : null
}

// The layout of one connection; its address is asked for once, when muxHTTP opens it.
function createConnection(cluster, address, retryCount) {
  var options = {
    connectTimeout: config.timeouts.connectSeconds,
    // Nothing read or written for so long: a request in flight is answered 504, an idle connection closed.
    // Pipy counts in ticks of a second, begun ones too: one more, so that it is never early.
    idleTimeout: config.timeouts.requestSeconds + 1,
    retryCount,
    // A millisecond later, and not in the same turn of the event loop: Pipy then takes the end of the try that timed out for an end of the
    // new one, whose timeout it cancels, and the request hangs.
    retryDelay: 0.001,
  }
  var connect = $=>$
    .connect(address, options)
    // A silent close reads as a reset, or a waiting request would be dropped without an answer.
    .replaceStreamEnd(end => end.error ? end : new StreamEnd('ConnectionReset'))

  if (!cluster.mtls) return connect

  var tls = Object.assign(createTLSOptions(cluster.mtls.acceptedIdentities), { sni: cluster.mtls.serverName })
  return $=>$.connectTLS(tls).to(connect)
}

// Pipy answers for an upstream that failed with a head that has no headers: 504, or 502 and why.
function answerFor(endpoint, start) {
  var head = start.head
  if (!isFailure(head)) return start
  if (head.status === 504) return reply(504, `no answer from ${endpoint.address} in time`)
  return reply(503, `${endpoint.address}: ${head.statusText}`)
}

function isFailure(head) {
  return head.status > 400 && Object.keys(head.headers).length === 0
}
