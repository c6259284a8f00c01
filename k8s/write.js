// Writes the YAML files of this folder from src/targets/kubernetes: node k8s/write.js
import { mkdirSync, writeFileSync } from 'node:fs'
import { Document } from 'yaml'
import { ROLES } from '../src/targets/kubernetes/access.js'
import { renderExamples } from './render-examples.js'
import { renderClusterRoles } from './render-roles.js'

const HEADER = `# What a run asks of the API server. Written by k8s/write.js from src/targets/kubernetes/access.js: change it there.
#
# sidecar-bench          every run
# sidecar-bench-kubelet  only for the kubelet's own counters, where no reader may run. Careful: on most clusters
#                        get nodes/proxy is enough to run commands in any container of a node.
#
# The roles are of the cluster because every run makes its own namespaces. Discovery, the server's version and
# asking what one may do are open to every user of a cluster (system:discovery, system:basic-user).
#
# To grant one:
#
#   apiVersion: rbac.authorization.k8s.io/v1
#   kind: ClusterRoleBinding
#   metadata: { name: sidecar-bench }
#   roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: sidecar-bench }
#   subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: you@example.com }]
`

writeRbac()
writeExamples()

function writeRbac() {
  const roles = renderClusterRoles().map(role => {
    const document = new Document(role)
    const reasons = ROLES[/** @type {keyof typeof ROLES} */ (role.metadata.name)].map(access => access.why)
    const rules = /** @type {any} */ (document.get('rules')).items
    for (const [i, rule] of rules.entries()) {
      rule.commentBefore = ` ${reasons[i]}`
      for (const { value } of rule.items) value.flow = true
    }
    return document.toString({ lineWidth: 0 })
  })
  write('rbac.yaml', `${HEADER}---\n${roles.join('---\n')}`)
}

function writeExamples() {
  for (const { file, content } of renderExamples().flatMap(example => example.files)) write(file, content)
}

/**
 * @param {string} file of this folder
 * @param {string} text
 */
function write(file, text) {
  const url = new URL(file, import.meta.url)
  mkdirSync(new URL('.', url), { recursive: true })
  writeFileSync(url, text)
}
