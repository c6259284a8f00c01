import { openPrometheus } from '../../src/production/prometheus.js'
import { readSidecarUsage } from '../../src/production/read-production.js'
import { computeWorkloadSizes } from '../../src/production/workload-size.js'
import { findInfinite } from './harness.js'
import { mutateJson, mutateText } from './mutate.js'

/** Answers of a Prometheus, to each query that a size by production needs. @import { Parser } from './harness.js' */

const labels = {
  ...{ __name__: 'istio_requests_total', namespace: 'shop', pod: 'web-6d4f8b9c7d-x2x4z', container: 'istio-proxy' },
  ...{ owner_kind: 'ReplicaSet', owner_name: 'web-6d4f8b9c7d', resource: 'cpu', reporter: 'destination' },
}
const ANSWER = {
  status: 'success',
  warnings: ['PromQL warning'],
  data: {
    resultType: 'vector',
    result: [
      { metric: labels, value: [1_790_000_000, '0.05'] },
      { metric: { ...labels, pod: 'web-6d4f8b9c7d-abcde', resource: 'memory' }, value: [1_790_000_000, '60'] },
    ],
  },
}

/** Reads a namespace from a Prometheus that gives one answer to all queries. @param {string} text */
async function readAnswers(text) {
  const { fetch } = globalThis
  globalThis.fetch = async () => new Response(text)
  try {
    // Each query has a timer until its deadline: those of ten seconds would add up to the memory that an input may take.
    const prometheus = openPrometheus({ url: new URL('http://prometheus.example'), deadlineSeconds: 1 })
    const scope = { namespace: 'shop', containers: ['istio-proxy', 'sidecar'], seconds: 7 * 86_400 }
    return computeWorkloadSizes(await readSidecarUsage(prometheus, scope))
  } finally {
    globalThis.fetch = fetch
  }
}

/** @type {Parser[]} */
export const PRODUCTION_PARSERS = [
  {
    name: 'answers of Prometheus',
    make: random => (random() < 0.2 ? mutateText(JSON.stringify(ANSWER), random) : mutateJson(ANSWER, random)),
    parse: readAnswers,
    findFault: findInfinite,
  },
]
