import { ROLES } from '../src/targets/kubernetes/access.js'

/** The objects of k8s/rbac.yaml; the rules of each are in the order of its table. */
export function renderClusterRoles() {
  return Object.entries(ROLES).map(([name, accesses]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRole',
    metadata: { name, labels: { 'app.kubernetes.io/part-of': 'sidecar-bench' } },
    rules: accesses.map(({ group, resource, verbs }) => ({
      apiGroups: [group],
      resources: [resource],
      verbs: [...verbs],
    })),
  }))
}
