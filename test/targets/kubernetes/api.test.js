import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { UsageError } from '../../../src/lib/errors.js'
import { createApiClient, parseApiError } from '../../../src/targets/kubernetes/api.js'
import { makeFolder } from '../../fakes/scratch.js'

const home = makeFolder('kubeconfig-test')

/** @param {string} name of the file @param {string} text @returns its path */
function write(name, text) {
  const file = path.join(home, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

/** @param {string[]} names of contexts, each with a cluster of its name; the first is the current one */
const renderConfig = (...names) => `apiVersion: v1
kind: Config
current-context: ${names[0]}
contexts: [${names.map(name => `{ name: ${name}, context: { cluster: ${name}, user: ${name} } }`)}]
clusters: [${names.map(name => `{ name: ${name}, cluster: { server: 'https://${name}.example:6443' } }`)}]
users: [${names.map(name => `{ name: ${name}, user: { token: secret } }`)}]
`

/** @param {string} files of KUBECONFIG @param {string | null} [context] */
const connectBy = (files, context = null) => createApiClient({ context, environment: { KUBECONFIG: files }, home })

/** @param {Promise<unknown>} attempt */
async function refusalOf(attempt) {
  const error = await attempt.then(
    () => null,
    e => e,
  )
  expect(error).toBeInstanceOf(UsageError)
  return error.message
}

describe('createApiClient', () => {
  it('takes the current context, or the one that is named', async () => {
    const file = write('two', renderConfig('kind', 'prod'))
    expect((await connectBy(file)).server).toBe('https://kind.example:6443')
    const named = await connectBy(file, 'prod')
    expect([named.server, named.readContext()]).toEqual(['https://prod.example:6443', 'prod'])
  })

  it('reads all the files of KUBECONFIG, and the one in the home folder without it', async () => {
    const files = [write('a', renderConfig('a')), write('b', renderConfig('b'))].join(path.delimiter)
    expect((await connectBy(files, 'a')).server).toBe('https://a.example:6443')
    expect((await connectBy(files, 'b')).server).toBe('https://b.example:6443')
    const standard = path.join(home, 'other')
    write('other/.kube/config', renderConfig('standard'))
    expect((await createApiClient({ context: null, environment: {}, home: standard })).readContext()).toBe('standard')
  })

  it('says where a kubeconfig can be if there is none', async () => {
    const message = await refusalOf(createApiClient({ context: null, environment: {}, home }))
    expect(message).toBe(`no kubeconfig: set KUBECONFIG, or put one at ${home}/.kube/config`)
  })

  it('names the file of KUBECONFIG that is not there', async () => {
    const files = [write('there', renderConfig('a')), `${home}/gone`].join(path.delimiter)
    expect(await refusalOf(connectBy(files))).toBe(`KUBECONFIG names ${home}/gone, which is not there`)
  })

  it('names the file that cannot be read, and why', async () => {
    expect(await refusalOf(connectBy(write('broken', ': : [')))).toContain(
      `the kubeconfig ${home}/broken cannot be read: `,
    )
    expect(await refusalOf(connectBy(home))).toMatch(/cannot be read: EISDIR/)
  })

  it('suggests the context that was meant', async () => {
    const message = await refusalOf(connectBy(write('three', renderConfig('kind', 'prod')), 'knid'))
    expect(message).toContain('the kubeconfig has no context "knid"; did you mean "kind"?')
    expect(message).toContain('kind, prod')
  })

  it('asks for a context if none is current', async () => {
    const file = write('none', renderConfig('kind').replace('current-context: kind', 'current-context: ""'))
    expect(await refusalOf(connectBy(file))).toContain('give --context NAME')
    expect((await connectBy(file, 'kind')).readContext()).toBe('kind')
  })
})

/** An answer of the API server, as the client throws it. @param {number} code @param {string} message */
const answer = (code, message) =>
  Object.assign(new Error(`HTTP-Code: ${code}\nMessage: Unsuccessful HTTP Request`), {
    code,
    body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message, code }),
  })

/** A connection that failed, as the client throws it. @param {string} code @param {string} reason */
const failure = (code, reason) =>
  Object.assign(new Error(`request to https://kind.example:6443/version failed, reason: ${reason}`), { code })

describe('parseApiError', () => {
  it('says of a denied request who may not do what, and where it stands what is needed', () => {
    const said =
      'deployments.apps is forbidden: User "eva" cannot create resource "deployments" in API group "apps" in the namespace "bench"'
    expect(parseApiError(answer(403, said))).toEqual({
      isRetriable: false,
      message: `${said} (k8s/rbac.yaml names the least that a run needs)`,
    })
  })

  it.each([
    ['a webhook', 'admission webhook "validate.kyverno.svc-fail" denied the request: host paths are not allowed'],
    ['a quota', 'pods "reviews" is forbidden: exceeded quota: small, requested: limits.cpu=2, limited: limits.cpu=1'],
    ['a policy', 'pods "reader" is forbidden: violates PodSecurity "baseline:latest": host namespaces (hostPID=true)'],
  ])('does not blame the rights of the user for what %s refuses', (_, said) => {
    expect(parseApiError(answer(403, said))).toEqual({ isRetriable: false, message: said })
  })

  it('says that credentials are not accepted', () => {
    const { isRetriable, message } = parseApiError(answer(401, 'Unauthorized'))
    expect(isRetriable).toBe(false)
    expect(message).toContain('the credentials of the kubeconfig are not accepted')
  })

  it.each([
    [answer(503, 'the server is currently unable to handle the request'), true],
    [answer(500, 'etcdserver: request timed out'), true],
    [answer(429, 'too many requests, please try again later'), true],
    [answer(500, 'Internal error occurred: failed calling webhook "mutate.example": connection refused'), false],
    [answer(404, 'namespaces "bench" not found'), false],
    [answer(422, 'Pod "reviews" is invalid: spec.containers: Required value'), false],
  ])('decides whether an answer is worth a retry: %s', (error, expected) => {
    expect(parseApiError(error).isRetriable).toBe(expected)
  })

  it.each([
    ['ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:6443'],
    ['ECONNRESET', 'read ECONNRESET'],
    ['ETIMEDOUT', 'connect ETIMEDOUT 192.0.2.1:6443'],
  ])('asks again after %s', (code, reason) => {
    expect(parseApiError(failure(code, reason))).toEqual({ isRetriable: true, message: failure(code, reason).message })
  })

  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'self-signed certificate'],
    ['CERT_HAS_EXPIRED', 'certificate has expired'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', "Hostname/IP does not match certificate's altnames"],
  ])('does not ask again a server that is not trusted: %s', (code, reason) => {
    const { isRetriable, message } = parseApiError(failure(code, reason))
    expect(isRetriable).toBe(false)
    expect(message).toContain(`${reason} (${code})`)
  })

  it('keeps an answer that is not a status', () => {
    const error = Object.assign(new Error('x'), { code: 502, body: '<html>Bad Gateway</html>' })
    expect(parseApiError(error)).toEqual({ isRetriable: true, message: '<html>Bad Gateway</html>' })
  })
})
