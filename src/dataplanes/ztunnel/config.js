import { Document, Scalar } from 'yaml'
import { groupBy, uniqueBy } from '../../lib/group-by.js'
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
const WHOLE_NAMESPACE = { scope: 'Namespace', namespace: NAMESPACE, dryRun: false }
// A target port of 0 leaves the port to each workload: one that names none is no endpoint of the service.
const NAMED_BY_WORKLOAD = 0

/**
 * Renders the configuration of a proxy of one workload.
 * @param {SidecarModel} model that carries bytes
 * @returns {string} YAML
 * @throws {TypeError} if an identity of the model is no SPIFFE ID in the form of Kubernetes
 */
export function renderConfig(model) {
  const { services, workloads } = renderCalledServices(model)
  const policies = renderPolicies(model)
  return renderDocument({ workloads: [renderLocalWorkload(model), ...workloads], services, policies })
}

/**
 * Renders one configuration for the proxy of all pods of a node. A workload that a pod calls is listed once, as a pod if it is one.
 * @param {SidecarModel[]} models of each pod; they carry bytes
 * @returns {string} YAML
 * @throws {TypeError} if an identity of a model is no SPIFFE ID in the form of Kubernetes
 */
export function renderNodeConfig(models) {
  const called = models.map(renderCalledServices)
  const calledWorkloads = called.flatMap(({ workloads }) => workloads)
  const pods = models.map(model => renderPod(model, calledWorkloads))
  const podAddresses = new Set(pods.flatMap(({ workload }) => workload.workloadIps))
  const workloadsElsewhere = calledWorkloads.filter(({ workloadIps }) => !podAddresses.has(workloadIps[0]))
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
  const policies = renderPolicies(model).map(policy => ({
    ...policy,
    name: `${policy.name}-${model.service}`,
    scope: 'WorkloadSelector',
  }))
  const workload = renderLocalWorkload(model)
  const services = calledWorkloads
    .filter(({ workloadIps }) => workload.workloadIps.includes(workloadIps[0]))
    .map(({ services }) => services)
  return {
    policies,
    workload: {
      ...workload,
      services: Object.assign({}, ...services),
      authorizationPolicies: policies.map(({ name }) => `${NAMESPACE}/${name}`),
    },
  }
}

/** Renders a configuration as YAML, in which no line is folded. @param {object} configuration */
function renderDocument(configuration) {
  return new Document(configuration).toString({ lineWidth: 0 })
}

/**
 * Renders the workload of the sidecar itself, without services. It has no address if the model has no inbound listener.
 * @param {SidecarModel} model
 * @throws {TypeError} if the identity is no SPIFFE ID in the form of Kubernetes
 */
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
 * Renders the services that this one calls, and their workloads, each of which names its port for each port of its services.
 * @param {SidecarModel} model
 * @returns services, workloads: both []: it calls none
 * @throws {TypeError} as `renderWorkload`
 */
function renderCalledServices(model) {
  const targets = listTargets(model)
  /** @type {Map<string, ReturnType<typeof renderWorkload>>} */
  const workloads = new Map()
  for (const { name, ports, cluster } of targets) {
    for (const endpoint of cluster.endpoints) {
      const newWorkload = renderWorkload(cluster, endpoint)
      const workload = workloads.get(newWorkload.uid) ?? newWorkload
      workloads.set(workload.uid, workload)
      const service = `${NAMESPACE}/${name}`
      workload.services[service] ??= new Map()
      for (const port of ports) workload.services[service].set(port, endpoint.port)
    }
  }
  const targetsByName = [...groupBy(targets, ({ name }) => name)]
  return {
    services: targetsByName.map(([name, targetsOfName]) => renderService(name, targetsOfName)),
    workloads: [...workloads.values()],
  }
}

/**
 * Lists the destinations of outbound connections. The destination of a redirected connection is the address of the first endpoint; that of
 * a load that calls the sidecar itself is the address of the sidecar, with a port for each cluster.
 * @param {SidecarModel} model whose clusters have endpoints
 * @returns name: of the service; vip: its address; ports: of the service
 */
function listTargets(model) {
  const outbound = listByteListeners(model).filter(({ direction }) => direction === 'outbound')
  return outbound.map(({ address, port, redirectedPorts, cluster }) => ({
    name: redirectedPorts ? cluster.name : 'outbound',
    vip: redirectedPorts ? cluster.endpoints[0].address : address,
    ports: redirectedPorts ?? [port],
    cluster,
  }))
}

/**
 * Renders a service, whose address is that of its first target. Its peers may also have the accepted identities after the first, which is
 * that of the workload.
 * @param {string} name
 * @param {ReturnType<typeof listTargets>} targets that have this name; at least one
 */
function renderService(name, targets) {
  return {
    name,
    namespace: NAMESPACE,
    hostname: name,
    vips: [`/${targets[0].vip}`],
    ports: new Map(targets.flatMap(({ ports }) => ports.map(port => [port, NAMED_BY_WORKLOAD]))),
    subjectAltNames: [...new Set(targets.flatMap(({ cluster }) => cluster.mtls?.acceptedIdentities?.slice(1) ?? []))],
  }
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
 * Renders an endpoint of a cluster as a workload, without services, which the caller adds. Its identity is the first of the accepted
 * ones; if any is accepted that of the called service, and if none is accepted one that no workload has.
 * @param {Cluster} cluster
 * @param {Endpoint} endpoint
 * @returns {ReturnType<typeof parseSpiffeId> & WorkloadAddress}
 * @throws {TypeError} if that identity is no SPIFFE ID in the form of Kubernetes
 */
function renderWorkload({ name, mtls }, { address }) {
  const accepted = mtls?.acceptedIdentities ?? [renderSpiffeId(mtls?.serverName ?? name)]
  const [identity = renderSpiffeId(NOBODY)] = accepted
  const identityFields = parseSpiffeId(identity)
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
 * Renders policies: one that denies plaintext if mTLS is strict, and one that allows only the listed identities if there is a list.
 * @param {SidecarModel} model
 * @returns []: the model has no inbound listener, or its mTLS is disabled, or permissive without a list
 */
function renderPolicies({ inbound }) {
  if (inbound === null || inbound.mtls === 'disabled') return []
  const { mtls, acceptedIdentities } = inbound
  const isPermissive = mtls === 'permissive'
  return [
    ...(isPermissive ? [] : [{ name: 'strict', ...WHOLE_NAMESPACE, action: 'Deny', rules: [renderAnonymousRule()] }]),
    ...(acceptedIdentities ? [renderAllowPolicy(acceptedIdentities, { isPermissive })] : []),
  ]
}

/**
 * Renders a rule that matches peers that showed no certificate: "no principal is present". A rule of ztunnel is a list of clauses,
 * all of which must match; a clause is a list of matches, of which one must (Istio's workload API, `Authorization`).
 */
function renderAnonymousRule() {
  return [[{ notPrincipals: [createTaggedNode('!Presence', [])] }]]
}

/**
 * Renders the policy that allows the listed identities.
 * @param {string[]} identities []: no identity is allowed
 * @param {{ isPermissive: boolean }} options isPermissive: peers without an identity are allowed, too
 */
function renderAllowPolicy(identities, { isPermissive }) {
  const principals = identities.map(identity => createTaggedNode('!Exact', identity.replace('spiffe://', '')))
  return {
    name: 'listed',
    ...WHOLE_NAMESPACE,
    action: 'Allow',
    rules: [...(principals.length > 0 ? [[[{ principals }]]] : []), ...(isPermissive ? [renderAnonymousRule()] : [])],
  }
}

/**
 * Creates a YAML node with the tag from which ztunnel reads the kind of a match.
 * @param {string} tag
 * @param {unknown} value
 */
function createTaggedNode(tag, value) {
  const node = Array.isArray(value) ? new Document(value).contents : new Scalar(value)
  if (node) node.tag = tag
  return node
}
