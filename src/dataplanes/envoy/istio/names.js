import { PORTS } from '../../../model/sidecar-contract.js'

export const NAMESPACE = 'bench'

/**
 * Renders the host of a service in its cluster.
 * @param {string} service
 * @returns {string} such as `shop.bench.svc.cluster.local`
 */
export function renderServiceHost(service) {
  return `${service}.${NAMESPACE}.svc.cluster.local`
}

/**
 * Renders the server name by which a client's proxy calls a service.
 * @param {string} service
 * @returns {string} such as `outbound_.8080_._.shop.bench.svc.cluster.local`
 */
export function renderSni(service) {
  return `outbound_.${PORTS.application}_._.${renderServiceHost(service)}`
}

/**
 * Creates the header values by which a proxy describes its pod to its peer, as long as Istio's and encoded alike.
 * @param {string} service
 * @returns id: of the proxy's node; encoded: the pod's metadata, as base64 of JSON
 */
export function createPeerHeaders(service) {
  const workload = {
    NAME: `${service}-7d4f8b9c6d-x2x4z`,
    NAMESPACE,
    OWNER: `kubernetes://apis/apps/v1/namespaces/${NAMESPACE}/deployments/${service}`,
    WORKLOAD_NAME: service,
    CLUSTER_ID: 'Kubernetes',
    LABELS: {
      app: service,
      'service.istio.io/canonical-name': service,
      'service.istio.io/canonical-revision': 'latest',
    },
  }
  return { id: `sidecar~${service}~${workload.NAME}.${NAMESPACE}`, encoded: btoa(JSON.stringify(workload)) }
}
