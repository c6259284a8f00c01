import { Document, Scalar } from 'yaml'
import { listByteListeners } from '../../model/byte-listeners.js'
import { renderSpiffeId } from '../../model/sidecar-contract.js'

/**
 * The sidecar model as ztunnel's local configuration (LOCAL_XDS_PATH): what Istio's control plane would send it. Services
 * lead a connection to a workload, by the address and the port that its client meant; policies say who may come in.
 * @import { Cluster, Endpoint, SidecarModel } from '../../model/types.ts'
 */

export const NAMESPACE = 'bench'
// Nobody has this identity: it stands for that of a workload that accepts nobody.
const NOBODY = 'nobody'
const ANYBODY_IN_IT = { scope: 'Namespace', namespace: NAMESPACE, dryRun: false }
// A target port of 0 leaves the port to each workload: one that names none is no endpoint of the service.
const NAMED_BY_WORKLOAD = 0

/** Renders the configuration of a proxy of one workload. @param {SidecarModel} model @returns {string} YAML */
export function renderConfig(model) {
  const { services, workloads } = renderCalledServices(model)
  const policies = renderPolicies(model)
  return renderDocument({ workloads: [renderLocalWorkload(model), ...workloads], services, policies })
}

/** Renders one configuration for the proxy of all pods of a node. @param {SidecarModel[]} models @returns {string} YAML */
export function renderNodeConfig(models) {
  const called = models.map(renderCalledServices)
  const sidecars = models.map(model => {
    const policies = renderPolicies(model).map(policy => ({ ...policy, name: `${policy.name}-${model.service}` }))
    const workload = renderLocalWorkload(model)
    const services = called.flatMap(({ workloads }) =>
      workloads.filter(({ workloadIps }) => workload.workloadIps.includes(workloadIps[0])).map(w => w.services),
    )
    return {
      policies: policies.map(policy => ({ ...policy, scope: 'WorkloadSelector' })),
      workload: {
        ...workload,
        services: Object.assign({}, ...services),
        authorizationPolicies: policies.map(({ name }) => `${NAMESPACE}/${name}`),
      },
    }
  })
  const addresses = new Set(sidecars.flatMap(({ workload }) => workload.workloadIps))
  const others = called.flatMap(({ workloads }) => workloads.filter(w => !addresses.has(w.workloadIps[0])))
  return renderDocument({
    workloads: [...sidecars.map(({ workload }) => workload), ...new Map(others.map(w => [w.uid, w])).values()],
    services: [...new Map(called.flatMap(({ services }) => services.map(s => [s.name, s]))).values()],
    policies: sidecars.flatMap(({ policies }) => policies),
  })
}

/** @param {object} configuration */
function renderDocument(configuration) {
  return new Document(configuration).toString({ lineWidth: 0 })
}

/** Renders the workload of the sidecar itself. @param {SidecarModel} model */
function renderLocalWorkload({ service, identity, inbound }) {
  return {
    ...renderIdentity(identity),
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
 * Renders the services that this one calls, and their workloads. Connections that its application opens mean the address of the
 * first endpoint; those of a load that calls the sidecar itself mean the sidecar's own address, and a port for each service.
 * @param {SidecarModel} model
 */
function renderCalledServices(model) {
  /** @type {Map<string, ReturnType<typeof renderWorkload>>} */
  const workloads = new Map()
  const outbound = listByteListeners(model).filter(({ direction }) => direction === 'outbound')
  const named = outbound.map(({ address, port, redirectedPorts, cluster }) => ({
    name: redirectedPorts ? cluster.name : 'outbound',
    vip: redirectedPorts ? cluster.endpoints[0].address : address,
    ports: redirectedPorts ?? [port],
    cluster,
  }))
  for (const { name, ports, cluster } of named)
    for (const endpoint of cluster.endpoints) {
      const workload = renderWorkload(cluster, endpoint)
      const known = workloads.get(workload.uid) ?? workload
      const key = `${NAMESPACE}/${name}`
      known.services[key] ??= new Map()
      for (const port of ports) known.services[key].set(port, endpoint.port)
      workloads.set(workload.uid, known)
    }
  const services = [...new Set(named.map(({ name }) => name))].map(name => {
    const copies = named.filter(other => other.name === name)
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
 * Renders an endpoint of a cluster as a workload. The caller adds its services. Without an identity that is accepted, it has that of
 * nobody.
 * @param {Cluster} cluster @param {Endpoint} endpoint @returns {ReturnType<typeof renderIdentity> & WorkloadAddress}
 */
function renderWorkload({ name, mtls }, { address }) {
  const identity = mtls ? (mtls.acceptedIdentities ?? [renderSpiffeId(mtls.serverName)])[0] : renderSpiffeId(name)
  const identityFields = renderIdentity(identity ?? renderSpiffeId(NOBODY))
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

/** Renders policies: one against plaintext if mTLS is strict, one for listed identities; [] if neither applies. @param {SidecarModel} model */
function renderPolicies({ inbound }) {
  if (inbound === null || inbound.mtls === 'disabled') return []
  const { mtls, acceptedIdentities } = inbound
  const renderUnnamedRule = () => [[{ notPrincipals: [tagValue('!Presence', [])] }]]
  const renderPrincipal = (/** @type {string} */ identity) => tagValue('!Exact', identity.replace('spiffe://', ''))
  const isPermissive = mtls === 'permissive'
  return [
    ...(isPermissive ? [] : [{ name: 'strict', ...ANYBODY_IN_IT, action: 'Deny', rules: [renderUnnamedRule()] }]),
    ...(acceptedIdentities
      ? [
          {
            name: 'listed',
            ...ANYBODY_IN_IT,
            action: 'Allow',
            rules: [
              ...(acceptedIdentities.length > 0 ? [[[{ principals: acceptedIdentities.map(renderPrincipal) }]]] : []),
              ...(isPermissive ? [renderUnnamedRule()] : []),
            ],
          },
        ]
      : []),
  ]
}

/** Gives a value the YAML tag by which ztunnel knows the kind of a match. @param {string} name @param {unknown} value */
function tagValue(name, value) {
  const node = Array.isArray(value) ? new Document(value).contents : new Scalar(value)
  if (node) node.tag = name
  return node
}

/** Splits an identity into the fields of a workload. @param {string} identity a SPIFFE URI of the form of Kubernetes */
export function renderIdentity(identity) {
  const [, trustDomain, namespace, serviceAccount] = /** @type {RegExpExecArray} */ (
    /^spiffe:\/\/([^/]+)\/ns\/([^/]+)\/sa\/([^/]+)$/.exec(identity)
  )
  return { trustDomain, namespace, serviceAccount }
}
