/** The requests of a run to the API server are the source of k8s/rbac.yaml, and of the doctor's checks. */
/** @import { Api } from './api.js' */

/**
 * @typedef {object} Access
 * @property {string} group the API group; empty for the core
 * @property {string} resource with its subresource, as pods/log
 * @property {string[]} verbs
 * @property {string} why the need for it
 */

/** The access that a run needs. It is not limited to one namespace: every run creates its own. */
export const ACCESS = parseAccessTable({
  namespaces: [
    'create get list patch delete',
    'every run makes two and removes them; cleanup looks for those left behind; rules of redirected connections need another level',
  ],
  nodes: ['list', 'choosing the node, and recording what it is'],
  // Server-side apply is a patch that also needs `create` if the object is not there yet.
  'deployments.apps': ['create patch delete', 'services with their sidecars, and the prober'],
  'jobs.batch': ['create patch delete', 'the load, and asking images for their versions'],
  'daemonsets.apps': ['create patch', 'the reader on every node of the run; it goes with its namespace'],
  services: ['create patch delete', 'the addresses of services'],
  configmaps: ['create patch delete', 'scripts and configurations of sidecars, applications and load'],
  secrets: ['create patch delete', "the run's own certificates and keys"],
  pods: ['create patch list watch delete', 'the sidecars of a rollout, and following what becomes of pods'],
  'pods/log': ['get', 'results of the load, and logs of what fails'],
  // Exec and port-forward are GETs over a web socket; Kubernetes 1.35 asks for `create` as well (KEP-4006).
  'pods/exec': ['get create', 'talking to the reader and the prober'],
  'pods/portforward': ['get create', "reading the counters of sidecars on their pods' loopback"],
  events: ['list', 'saying why no pod is made'],
})

/** The roles of k8s/rbac.yaml by name, each with what it grants. */
export const ROLES = {
  'sidecar-bench': ACCESS,
  // This role is for clusters that admit no reader.
  'sidecar-bench-kubelet': parseAccessTable({ 'nodes/proxy': ['get', "the kubelet's counters and configuration"] }),
}

/**
 * Lists the access that a run needs and the user of the kubeconfig lacks.
 * @param {Api} api
 * @returns {Promise<Access[]>} each with the denied verbs; []: nothing is denied
 * @throws {BenchError} if the API server refuses a review; {SiteLostError} if it does not answer
 */
export async function listDeniedAccess(api) {
  const authorization = api.config.makeApiClient(api.k8s.AuthorizationV1Api)
  const checkDenied = async (/** @type {Access} */ { group, resource: path }, /** @type {string} */ verb) => {
    const [resource, subresource] = path.split('/')
    const body = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      // Without a namespace, the review is about all of them.
      spec: { resourceAttributes: { group, resource, ...(subresource ? { subresource } : {}), verb } },
    }
    const review = () => authorization.createSelfSubjectAccessReview({ body })
    const { status } = await api.request(`ask whether you may ${verb} ${path}`, review)
    return !status?.allowed
  }
  const reviewed = await Promise.all(
    ACCESS.map(async access => {
      const denials = await Promise.all(access.verbs.map(verb => checkDenied(access, verb)))
      return { ...access, verbs: access.verbs.filter((_, i) => denials[i]) }
    }),
  )
  return reviewed.filter(({ verbs }) => verbs.length > 0)
}

/**
 * Parses a table of access.
 * @param {Record<string, [verbs: string, why: string]>} rows by `resource.group`; the core has no group. verbs: separated by
 *   spaces
 * @returns {Access[]}
 */
function parseAccessTable(rows) {
  return Object.entries(rows).map(([name, [verbs, why]]) => {
    const [resource, group = ''] = name.split('.')
    return { group, resource, verbs: verbs.split(' '), why }
  })
}
