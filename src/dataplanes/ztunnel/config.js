import { Document, Scalar } from 'yaml'
import { uniqueBy } from '../../lib/group-by.js'
import { listByteListeners } from '../../model/byte-listeners.js'
import { parseSpiffeId, renderSpiffeId } from '../../model/sidecar-contract.js'

/**
 * The sidecar model as ztunnel's local configuration (LOCAL_XDS_PATH): the messages of Istio's control plane. A service leads
 * a connection to a workload, by its original destination; policies say which peers are accepted.
 * @import { Cluster, Endpoint, SidecarModel } from '../../model/types.ts'
 */

export const NAMESPACE = 'bench'
// No workload has this identity: it stands for that of a workload that accepts no identity.
const NOBODY = 'nobody'
const ANYBODY_IN_IT = { scope: 'Namespace', namespace: NAMESPACE, dryRun: false }
// A target port of 0 leaves the port to each workload: one that names none is no endpoint of the service.
const NAMED_BY_WORKLOAD = 0

/**
 * Renders the configuration of a proxy of one workload.
 * @param {SidecarModel} model
 * @returns {string} YAML
 */
export function renderConfig(model) {
  const { services, workloads } = renderCalledServices(model)
  const policies = renderPolicies(model)
  return renderDocument({ workloads: [renderLocalWorkload(model), ...workloads], services, policies })
}

/**
 * Renders one configuration for the proxy of all pods of a node.
 * @param {SidecarModel[]} models
 * @returns {string} YAML
 */
export function renderNodeConfig(models) {
  const called = models.map(renderCalledServices)
  const calledWorkloads = called.flatMap(({ workloads }) => workloads)
  const pods = models.map(model => renderPod(model, calledWorkloads))
  const addresses = new Set(pods.flatMap(({ workload }) => workload.workloadIps))
  const workloadsElsewhere = calledWorkloads.filter(({ workloadIps }) => !addresses.has(workloadIps[0]))
  const services = called.flatMap(({ services }) => services)
  return renderDocument({
    workloads: [...pods.map(({ workload }) => workload), ...uniqueBy(workloadsElsewhere, ({ uid }) => uid)],
    services: uniqueBy(services, ({ name }) => name),
    policies: pods.flatMap(({ policies }) => policies),
  })
}

/**
 * Renders the workload of a pod, with the services that lead to it, and policies that select only this workload.
 * @param {SidecarModel} model
 * @param {ReturnType<typeof renderWorkload>[]} calledWorkloads those that any pod calls
 */
function renderPod(model, calledWorkloads) {
  const policies = renderPolicies(model).map(policy => ({ ...policy, name: `${policy.name}-${model.service}` }))
  const workload = renderLocalWorkload(model)
  const services = calledWorkloads
    .filter(({ workloadIps }) => workload.workloadIps.includes(workloadIps[0]))
    .map(({ services }) => services)
  return {
    policies: policies.map(policy => ({ ...policy, scope: 'WorkloadSelector' })),
    workload: {
      ...workload,
      services: Object.assign({}, ...services),
      authorizationPolicies: policies.map(({ name }) => `${NAMESPACE}/${name}`),
    },
  }
}

/** @param {object} configuration */
function renderDocument(configuration) {
  return new Document(configuration).toString({ lineWidth: 0 })
}

/** Renders the workload of the sidecar itself. @param {SidecarModel} model */
function renderLocalWorkload({ service, identity, inbound }) {
  return {
    ...parseSpiffeId(identity),
    uid: service,
    name: service,
    node: NAMESPACE,
    network: '',
    protocol: inbound?.mtls === 'disabled' ? 'TCP' : 'HBONE',
    workloadIps: inbound ? [inbound.address] : [],
    services: {},
  }
}

/**
 * Renders the services that this one calls, and their workloads. The destination of a redirected connection is the address of the
 * first endpoint; that of a load that calls the sidecar itself is the address of the sidecar, with a port for each service.
 * @param {SidecarModel} model
 */
function renderCalledServices(model) {
  /** @type {Map<string, ReturnType<typeof renderWorkload>>} */
  const workloads = new Map()
  const outbound = listByteListeners(model).filter(({ direction }) => direction === 'outbound')
  const targets = outbound.map(({ address, port, redirectedPorts, cluster }) => ({
    name: redirectedPorts ? cluster.name : 'outbound',
    vip: redirectedPorts ? cluster.endpoints[0].address : address,
    ports: redirectedPorts ?? [port],
    cluster,
  }))
  for (const { name, ports, cluster } of targets)
    for (const endpoint of cluster.endpoints) {
      const workload = renderWorkload(cluster, endpoint)
      const shared = workloads.get(workload.uid) ?? workload
      const key = `${NAMESPACE}/${name}`
      shared.services[key] ??= new Map()
      for (const port of ports) shared.services[key].set(port, endpoint.port)
      workloads.set(workload.uid, shared)
    }
  const services = [...new Set(targets.map(({ name }) => name))].map(name => {
    const copies = targets.filter(other => other.name === name)
    return {
      name,
      namespace: NAMESPACE,
      hostname: name,
      vips: [`/${copies[0].vip}`],
      ports: new Map(copies.flatMap(({ ports }) => ports.map(port => [port, NAMED_BY_WORKLOAD]))),
      subjectAltNames: [...new Set(copies.flatMap(({ cluster }) => cluster.mtls?.acceptedIdentities?.slice(1) ?? []))],
    }
  })
  return { services, workloads: [...workloads.values()] }
}

/**
 * @typedef {object} WorkloadAddress
 * @property {string} uid
 * @property {string} name
 * @property {string} node
 * @property {string} network
 * @property {string} protocol HBONE, or TCP for a cluster without mTLS
 * @property {string[]} workloadIps
 * @property {Record<string, Map<number, number>>} services by service, its own port for each port of the service
 */
/**
 * Renders an endpoint of a cluster as a workload, without services, which the caller adds. If no identity is accepted, its identity is
 * one that no workload has.
 * @param {Cluster} cluster
 * @param {Endpoint} endpoint
 * @returns {ReturnType<typeof parseSpiffeId> & WorkloadAddress}
 */
function renderWorkload({ name, mtls }, { address }) {
  const identity = mtls ? (mtls.acceptedIdentities ?? [renderSpiffeId(mtls.serverName)])[0] : renderSpiffeId(name)
  const identityFields = parseSpiffeId(identity ?? renderSpiffeId(NOBODY))
  return {
    ...identityFields,
    uid: `${address}/${identityFields.serviceAccount}`,
    name: `${identityFields.serviceAccount}-${address}`,
    node: NAMESPACE,
    network: '',
    protocol: mtls ? 'HBONE' : 'TCP',
    workloadIps: [address],
    services: {},
  }
}

/**
 * Renders policies: one that denies plaintext if mTLS is strict, one that allows listed identities; [] if neither applies.
 * @param {SidecarModel} model
 */
function renderPolicies({ inbound }) {
  if (inbound === null || inbound.mtls === 'disabled') return []
  const { mtls, acceptedIdentities } = inbound
  const renderAnonymousRule = () => [[{ notPrincipals: [createTaggedNode('!Presence', [])] }]]
  const renderPrincipal = (/** @type {string} */ identity) =>
    createTaggedNode('!Exact', identity.replace('spiffe://', ''))
  const isPermissive = mtls === 'permissive'
  return [
    ...(isPermissive ? [] : [{ name: 'strict', ...ANYBODY_IN_IT, action: 'Deny', rules: [renderAnonymousRule()] }]),
    ...(acceptedIdentities
      ? [
          {
            name: 'listed',
            ...ANYBODY_IN_IT,
            action: 'Allow',
            rules: [
              ...(acceptedIdentities.length > 0 ? [[[{ principals: acceptedIdentities.map(renderPrincipal) }]]] : []),
              ...(isPermissive ? [renderAnonymousRule()] : []),
            ],
          },
        ]
      : []),
  ]
}

/**
 * Creates a YAML node with the tag from which ztunnel reads the kind of a match.
 * @param {string} name
 * @param {unknown} value
 */
function createTaggedNode(name, value) {
  const node = Array.isArray(value) ? new Document(value).contents : new Scalar(value)
  if (node) node.tag = name
  return node
}
