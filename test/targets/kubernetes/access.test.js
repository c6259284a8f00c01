import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { renderClusterRoles } from '../../../k8s/render-roles.js'
import { ACCESS, listDeniedAccess, ROLES } from '../../../src/targets/kubernetes/access.js'

// https://kubernetes.io/docs/reference/access-authn-authz/authorization/#determine-the-request-verb
const VERBS = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection']

/**
 * An API server that allows what it is told to.
 * @param {(attributes: { group: string, resource: string, subresource?: string, verb: string, namespace?: string }) => boolean} isAllowed
 */
function fakeApi(isAllowed) {
  /** @type {any[]} */
  const reviews = []
  const api = /** @type {any} */ ({
    k8s: { AuthorizationV1Api: 'authorization' },
    config: {
      makeApiClient: () => ({
        createSelfSubjectAccessReview: async (/** @type {any} */ { body }) => {
          reviews.push(body.spec.resourceAttributes)
          return { status: { allowed: isAllowed(body.spec.resourceAttributes) } }
        },
      }),
    },
    request: (/** @type {string} */ _, /** @type {() => Promise<any>} */ ask) => ask(),
  })
  return { api, reviews }
}

describe('the roles of k8s/rbac.yaml', () => {
  it('are those of the table: node k8s/write.js writes them', () => {
    const documents = parseAllDocuments(readFileSync('k8s/rbac.yaml', 'utf8'))
    expect(documents.map(d => d.toJS())).toEqual(renderClusterRoles())
  })

  it.each(Object.entries(ROLES))('%s grants each resource once, by verbs that Kubernetes knows', (_, table) => {
    expect(new Set(table.map(({ group, resource }) => `${resource}.${group}`)).size).toBe(table.length)
    for (const { verbs } of table) {
      expect(VERBS).toEqual(expect.arrayContaining(verbs))
      expect(new Set(verbs).size).toBe(verbs.length)
    }
  })

  it('grant nothing on roles, on service accounts, or by a wildcard', () => {
    const granted = JSON.stringify(renderClusterRoles().map(({ rules }) => rules))
    expect(granted).not.toMatch(/\*|rbac\.authorization|serviceaccounts|impersonate|escalate|bind/)
  })

  it('grant both verbs of server-side apply wherever one is granted', () => {
    const applied = ACCESS.filter(a => a.verbs.includes('patch'))
    expect(applied.length).toBeGreaterThan(0)
    for (const { verbs } of applied) expect(verbs).toContain('create')
  })
})

describe('listDeniedAccess', () => {
  it('finds nothing if everything is allowed', async () => {
    const { api, reviews } = fakeApi(() => true)
    expect(await listDeniedAccess(api)).toEqual([])
    expect(reviews).toHaveLength(ACCESS.flatMap(({ verbs }) => verbs).length)
  })

  it('asks about all namespaces, and about subresources as such', async () => {
    const { api, reviews } = fakeApi(() => true)
    await listDeniedAccess(api)
    expect(reviews).toContainEqual({ group: '', resource: 'pods', subresource: 'exec', verb: 'create' })
    expect(reviews).toContainEqual({ group: 'apps', resource: 'deployments', verb: 'patch' })
    expect(reviews.filter(({ namespace }) => namespace !== undefined)).toEqual([])
  })

  it('names only the verbs that are denied', async () => {
    const { api } = fakeApi(({ resource, verb }) => resource !== 'secrets' || verb === 'list')
    expect(await listDeniedAccess(api)).toMatchObject([{ resource: 'secrets', verbs: ['create', 'patch', 'delete'] }])
  })
})
