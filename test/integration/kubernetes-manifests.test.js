import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { findOnPath } from '../../src/tools/find.js'

const { TEST_KUBECONFIG = '', PATH = '' } = process.env
const kubectl = await findOnPath('kubectl', PATH)
const missing = [
  ...(TEST_KUBECONFIG ? [] : ['TEST_KUBECONFIG, the kubeconfig of a cluster that tests may change']),
  ...(kubectl ? [] : ['kubectl']),
]

const GOLDEN = 'test/golden/kubernetes'
// The golden manifests' own namespaces, and what stands for them here.
const restricted = `manifests-test-${process.pid}`
const privileged = `${restricted}-reader`
const OWN = { 'sidecar-bench-r1': restricted, 'sidecar-bench-r1-reader': privileged }
// The Go module proxy does not have every version; this one it has.
const OPERATOR = 'github.com/grafana/k6-operator@v0.0.19'
const CRD = 'customresourcedefinition/testruns.k6.io'

/**
 * @param {string[]} argv
 * @param {unknown} [input] an object
 */
const run = (argv, input) =>
  execa(kubectl ?? 'kubectl', argv, {
    ...{ reject: false, all: true, env: { KUBECONFIG: TEST_KUBECONFIG } },
    input: input === undefined ? '' : JSON.stringify(input),
  })
const tryApply = (/** @type {unknown} */ object) => run(['apply', '--dry-run=server', '-f', '-'], object)
let isCrdOurs = false

beforeAll(async () => {
  if (missing.length > 0) return
  for (const [name, level] of [
    [restricted, 'restricted'],
    [privileged, 'privileged'],
  ]) {
    // What makes pods is only warned about; pods themselves are refused.
    const labels = { 'pod-security.kubernetes.io/enforce': level, 'pod-security.kubernetes.io/warn': level }
    const made = await run(['create', '-f', '-'], { apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } })
    expect(made.exitCode, made.all).toBe(0)
  }
})

afterAll(async () => {
  if (missing.length > 0) return
  await run(['delete', '--ignore-not-found', 'namespace', restricted, privileged])
  if (isCrdOurs) await run(['delete', '--ignore-not-found', CRD])
})

describe('a cluster', () => {
  it.for(readdirSync(GOLDEN))('takes %s, and the pods it makes', async (file, context) => {
    if (missing.length > 0) return context.skip(`needs ${missing.join(' and ')}`)
    const object = parse(readFileSync(path.join(GOLDEN, file), 'utf8'))
    if (object.kind === 'TestRun') {
      const why = await applyOperatorCrd()
      if (why !== null) return context.skip(why)
    }
    if (object.kind === 'Namespace') object.metadata.name = ownOf(object.metadata.name)
    else object.metadata.namespace = ownOf(object.metadata.namespace)

    const { exitCode, all } = await tryApply(object)
    expect(exitCode, all).toBe(0)
    expect(all).not.toMatch(/would violate|unknown field/)
    for (const pod of createPods(object)) {
      const taken = await tryApply(pod)
      expect(taken.exitCode, taken.all).toBe(0)
    }
  })

  it('refuses the reader where the services are', async context => {
    if (missing.length > 0) return context.skip(`needs ${missing.join(' and ')}`)
    const object = parse(readFileSync(path.join(GOLDEN, 'reader-anywhere.yaml'), 'utf8'))
    object.metadata.namespace = restricted
    const [pod] = createPods(object)
    const { exitCode, all } = await tryApply(pod)
    expect(exitCode).not.toBe(0)
    expect(all).toMatch(/violates PodSecurity "restricted/)
  })
})

/** @param {string} namespace of a golden manifest */
function ownOf(namespace) {
  return OWN[/** @type {keyof OWN} */ (namespace)]
}

/**
 * The pods that an object's controller would make.
 * @param {any} object
 */
function createPods({ kind, metadata: { name, namespace }, spec }) {
  const pod = (/** @type {string} */ role, /** @type {any} */ template) => ({
    ...{ apiVersion: 'v1', kind: 'Pod', spec: template },
    metadata: { name: `${name}-${role}`, namespace },
  })
  if (spec?.template) return [pod('pod', spec.template.spec)]
  if (kind !== 'TestRun') return []
  // As the operator's pkg/resources/jobs does.
  return ['initializer', 'starter', 'runner'].map(role => {
    const { securityContext, containerSecurityContext, affinity, volumes, ...own } = spec[role]
    const { image = 'starter', env, volumeMounts } = own
    const container = { name: 'k6', image, env, volumeMounts, securityContext: containerSecurityContext }
    return pod(role, { securityContext, affinity, volumes, restartPolicy: 'Never', containers: [container] })
  })
}

/** @returns {Promise<string | null>} why the cluster has no such kind; null: it has */
async function applyOperatorCrd() {
  if ((await run(['get', CRD])).exitCode === 0) return null
  const go = await findOnPath('go', PATH)
  if (!go) return 'needs the k6 operator in the cluster, or go to download its CustomResourceDefinition'
  const folder = mkdtempSync(path.join(os.tmpdir(), 'operator-'))
  try {
    const { stdout } = await execa(go, ['mod', 'download', '-json', OPERATOR], { cwd: folder, reject: false })
    const { Dir, Error: why } = JSON.parse(stdout || '{ "Error": "go mod download printed nothing" }')
    if (!Dir) return `needs the k6 operator in the cluster, and its CustomResourceDefinition cannot be had: ${why}`
    isCrdOurs = true
    const made = await run(['create', '-f', path.join(Dir, 'config/crd/bases/k6.io_testruns.yaml')])
    expect(made.exitCode, made.all).toBe(0)
    // A fresh definition has no conditions yet, and then kubectl does not wait for one.
    await vi.waitFor(
      async () => {
        const ready = await run(['wait', '--for=condition=Established', '--timeout=10s', CRD])
        expect(ready.exitCode, ready.all).toBe(0)
      },
      { timeout: 30_000 },
    )
    return null
  } finally {
    rmSync(folder, { recursive: true })
  }
}
