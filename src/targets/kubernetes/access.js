/**
 * What a run asks of the API server: the source of k8s/rbac.yaml, and of what the doctor asks.
 * @import { Api } from './api.js'
 */

/**
 * @typedef {object} Access
 * @property {string} group of the API; '' for the core
 * @property {string} resource with its subresource, such as pods/log
 * @property {string[]} verbs
 * @property {'cluster' | 'namespace'} scope
 * @property {string} why
 */

// Server-side apply is a patch that also needs `create` where the object is not there yet.
const APPLY = ['create', 'patch']

/**
 * The least that a run needs. No single namespace bounds it: every run makes its own.
 * @type {Access[]}
 */
export const ACCESS = [
  {
    ...{ group: '', resource: 'namespaces', verbs: ['create', 'get', 'list', 'delete'], scope: 'cluster' },
    why: 'every run makes two namespaces and removes them; cleanup looks for those left behind',
  },
  {
    ...{ group: '', resource: 'nodes', verbs: ['list'], scope: 'cluster' },
    why: 'choosing the node, and recording what it is',
  },
  {
    ...{ group: 'apps', resource: 'deployments', verbs: [...APPLY, 'delete'], scope: 'namespace' },
    why: 'services with their sidecars, and the prober',
  },
  {
    ...{ group: 'batch', resource: 'jobs', verbs: [...APPLY, 'delete'], scope: 'namespace' },
    why: 'the load, and asking images for their versions',
  },
  {
    ...{ group: 'apps', resource: 'daemonsets', verbs: APPLY, scope: 'namespace' },
    why: 'the reader on every node of the run; it goes with its namespace',
  },
  {
    ...{ group: '', resource: 'services', verbs: [...APPLY, 'delete'], scope: 'namespace' },
    why: 'the addresses of services',
  },
  {
    ...{ group: '', resource: 'configmaps', verbs: [...APPLY, 'delete'], scope: 'namespace' },
    why: 'scripts and configurations of sidecars, applications and load',
  },
  {
    ...{ group: '', resource: 'secrets', verbs: [...APPLY, 'delete'], scope: 'namespace' },
    why: "the run's own certificates and keys",
  },
  {
    ...{ group: '', resource: 'pods', verbs: ['list', 'watch'], scope: 'namespace' },
    why: 'following what becomes of pods',
  },
  {
    ...{ group: '', resource: 'pods/log', verbs: ['get'], scope: 'namespace' },
    why: 'results of the load, and logs of what fails',
  },
  // Over a web socket both are a GET; since Kubernetes 1.35 `create` is asked for as well (KEP-4006).
  {
    ...{ group: '', resource: 'pods/exec', verbs: ['get', 'create'], scope: 'namespace' },
    why: 'talking to the reader and the prober',
  },
  {
    ...{ group: '', resource: 'pods/portforward', verbs: ['get', 'create'], scope: 'namespace' },
    why: "reading the counters of sidecars on their pods' loopback",
  },
  {
    ...{ group: '', resource: 'events', verbs: ['list'], scope: 'namespace' },
    why: 'saying why no pod is made',
  },
]

/**
 * For the kubelet's own counters, where no reader may run.
 * @type {Access[]}
 */
export const KUBELET_ACCESS = [
  {
    ...{ group: '', resource: 'nodes/proxy', verbs: ['get'], scope: 'cluster' },
    why: "the kubelet's counters and configuration",
  },
]

/** The roles of k8s/rbac.yaml by name, each with what it grants. */
export const ROLES = {
  'sidecar-bench': ACCESS,
  'sidecar-bench-kubelet': KUBELET_ACCESS,
}

/** The objects of k8s/rbac.yaml; the rules of each are in the order of its table. */
export function renderClusterRoles() {
  return Object.entries(ROLES).map(([name, table]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: { 'app.kubernetes.io/part-of': 'sidecar-bench' } },
    rules: table.map(({ group, resource, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [...verbs],
    })),
  }))
}

/**
 * Asks the API server what of a table the user of the kubeconfig may not do, in any namespace.
 * @param {Api} api
 * @param {Access[]} [table]
 * @returns {Promise<Access[]>} each with only the verbs that are denied
 * @throws {BenchError} when it cannot be asked
 */
export async function checkAccess(api, table = ACCESS) {
  const authorization = api.config.makeApiClient(api.k8s.AuthorizationV1Api)
  const checked = await Promise.all(
    table.map(async access => {
      const isAllowed = await Promise.all(access.verbs.map(verb => ask(access, verb)))
      return { ...access, verbs: access.verbs.filter((_, i) => !isAllowed[i]) }
    }),
  )
  return checked.filter(({ verbs }) => verbs.length > 0)

  /**
   * @param {Access} access
   * @param {string} verb
   */
  async function ask({ group, resource: path, scope }, verb) {
    const [resource, subresource] = path.split('/')
    // Without a namespace the question is about all of them.
    const resourceAttributes = { group, resource, ...(subresource ? { subresource } : {}), verb }
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes },
    }
    const where = scope === 'cluster' ? '' : ' in every namespace'
    const review = await api.request(`ask whether you may ${verb} ${path}${where}`, () =>
      authorization.createSelfSubjectAccessReview({ body }),
    )
    return review.status?.allowed ?? false
  }
}
