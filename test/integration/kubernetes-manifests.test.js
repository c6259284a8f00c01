import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
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

/** @param {string[]} argv @param {unknown} [input] an object */
const run = (argv, input) =>
  execa(kubectl ?? 'kubectl', argv, {
    ...{ reject: false, all: true, env: { KUBECONFIG: TEST_KUBECONFIG } },
    input: input === undefined ? '' : JSON.stringify(input),
  })
const tryApply = (/** @type {unknown} */ object) => run(['apply', '--dry-run=server', '-f', '-'], object)

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

beforeEach(context => {
  if (missing.length > 0) context.skip(`needs ${missing.join(' and ')}`)
})

afterAll(async () => {
  if (missing.length > 0) return
  await run(['delete', '--ignore-not-found', 'namespace', restricted, privileged])
})

describe('a cluster', () => {
  it.for(readdirSync(GOLDEN))('takes %s, and the pods it makes', async file => {
    const object = parse(readFileSync(path.join(GOLDEN, file), 'utf8'))
    if (object.kind === 'Namespace') object.metadata.name = namespaceOf(object.metadata.name)
    else object.metadata.namespace = namespaceOf(object.metadata.namespace)

    const { exitCode, all } = await tryApply(object)
    expect(exitCode, all).toBe(0)
    expect(all).not.toMatch(/would violate|unknown field/)
    for (const pod of createPods(object)) {
      const taken = await tryApply(pod)
      expect(taken.exitCode, taken.all).toBe(0)
    }
  })

  it('refuses the reader where the services are', async () => {
    const object = parse(readFileSync(path.join(GOLDEN, 'reader-anywhere.yaml'), 'utf8'))
    object.metadata.namespace = restricted
    const [pod] = createPods(object)
    const { exitCode, all } = await tryApply(pod)
    expect(exitCode).not.toBe(0)
    expect(all).toMatch(/violates PodSecurity "restricted/)
  })
})

/** @param {string} namespace of a golden manifest */
function namespaceOf(namespace) {
  return OWN[/** @type {keyof typeof OWN} */ (namespace)]
}

/** The pods that an object's controller would make. @param {any} object */
function createPods({ metadata: { name, namespace }, spec }) {
  const pod = (/** @type {string} */ role, /** @type {any} */ template) => ({
    ...{ apiVersion: 'v1', kind: 'Pod', spec: template },
    metadata: { name: `${name}-${role}`, namespace },
  })
  return spec?.template ? [pod('pod', spec.template.spec)] : []
}
