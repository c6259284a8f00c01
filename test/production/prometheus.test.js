import http from 'node:http'
import { describe, expect, it } from 'vitest'
import { openPrometheus } from '../../src/production/prometheus.js'
import { cli } from '../fakes/cli.js'
import { listenInTest } from '../fakes/listen.js'

/** @param {http.RequestListener} answer @returns {Promise<string>} its address */
async function serve(answer) {
  const { address, port } = await listenInTest(http.createServer(answer))
  return `http://${address}:${port}`
}

/** Serves answers to queries that hold a text; others have none. @param {Record<string, [Record<string, string>, number][]>} answers */
const servePrometheus = answers =>
  serve(({ url }, response) => {
    const query = new URL(`${url}`, 'http://x').searchParams.get('query') ?? ''
    const [, samples = []] = Object.entries(answers).find(([text]) => query.includes(text)) ?? []
    const result = samples.map(([metric, value]) => ({ metric, value: [0, `${value}`] }))
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }))
  })

/** Serves one sample to each query. @param {string} value @returns {Promise<string>} its address */
const serveValue = value =>
  serve((_, response) => {
    const result = [{ metric: {}, value: [0, value] }]
    response.end(JSON.stringify({ status: 'success', data: { resultType: 'vector', result } }))
  })

/** @param {string} address @param {Partial<Parameters<typeof openPrometheus>[0]>} [options] */
const ask = (address, options) =>
  openPrometheus({ url: new URL(address), deadlineSeconds: 5, ...options }).query('up', 'targets')

/** @param {string} address @param {string[]} words */
const size = (address, ...words) => cli('size', '--from-prometheus', address, '--namespace', 'shop', ...words)

describe('a Prometheus that is read', () => {
  it('sends a query below the path prefix, with a timeout for the server', async () => {
    /** @type {string[]} */
    const received = []
    const address = await serve(({ url, headers }, response) => {
      received.push(`${url}`, `${headers.authorization}`)
      response.end(
        '{"status":"success","data":{"resultType":"vector","result":[{"metric":{"job":"a"},"value":[1,"2.5"]},{"metric":{},"value":[1,"NaN"]}]}}',
      )
    })
    expect(await ask(`${address.replace('http://', 'http://user:p%40ss@')}/prefix/`)).toEqual([
      { labels: { job: 'a' }, value: 2.5 },
    ])
    expect(received).toEqual([
      '/prefix/api/v1/query?query=up&timeout=5000ms',
      `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
    ])
    await ask(address, { token: 'secret' })
    expect(received.at(-1)).toBe('Bearer secret')
  })

  it.for([
    ['NaN', []],
    ['+Inf', []],
    ['-Inf', []],
    ['1e-320', [{ labels: {}, value: 0 }]],
  ])('reads a value of %s', async ([text, samples]) => {
    expect(await ask(await serveValue(`${text}`))).toEqual(samples)
  })

  it.for(['', ' ', '-1', 'x', '1e16', '9'.repeat(400)])('refuses "%s" as a value', async text => {
    await expect(ask(await serveValue(text))).rejects.toThrow(
      /answered ".*" \(targets\), which is no number of cores, bytes or requests: look at what it scrapes/,
    )
  })

  it.for([
    [0.5, '500ms'],
    [1.001, '1001ms'],
    [1.5, '1500ms'],
    [9_000_000, '3600000ms'],
  ])('sends a timeout of %s s in whole milliseconds', async ([deadlineSeconds, timeout]) => {
    /** @type {(string | null)[]} */
    const timeouts = []
    const address = await serve(({ url }, response) => {
      timeouts.push(new URL(`${url}`, 'http://x').searchParams.get('timeout'))
      response.end('{"status":"success","data":{"resultType":"vector","result":[]}}')
    })
    await ask(address, { deadlineSeconds: Number(deadlineSeconds) })
    expect(timeouts).toEqual([timeout])
  })

  it('says that the port is closed, and never prints a password', async () => {
    const { stderr, exitCode } = await size('http://user:hidden@127.0.0.1:1')
    expect(stderr).toContain('cannot reach Prometheus at http://127.0.0.1:1: ')
    expect(stderr).toContain('kubectl port-forward')
    expect(stderr).not.toContain('hidden')
    expect(exitCode).toBe(1)
  })

  it.for([
    [
      'a page',
      200,
      '<html>Grafana</html>',
      'is no Prometheus: it answered 200 to /api/v1/query, with "<html>Grafana</html>"',
    ],
    ['success without data', 200, '{"status":"success"}', 'is no Prometheus: it answered 200'],
    ['a path that is not there', 404, '404 page not found', 'is no Prometheus: it answered 404'],
    ['a login', 401, 'no', 'answered 401: it wants a user and password'],
    [
      'too large a query',
      422,
      '{"status":"error","error":"query processing would load too many samples into memory"}',
      'too many samples into memory; ask for less: --for 1d',
    ],
    ['a query that it cannot parse', 400, '{"status":"error","error":"parse error"}', 'parse error; the query was up'],
  ])('names %s', async ([, status, text, message]) => {
    const address = await serve((_, response) => response.writeHead(Number(status)).end(text))
    await expect(ask(address)).rejects.toThrow(`${message}`)
  })

  it('ends at the deadline if it hangs, before or within an answer', async () => {
    for (const begin of ['', '{"status":']) {
      const address = await serve((_, response) => void response.write(begin))
      await expect(ask(address, { deadlineSeconds: 0.2 })).rejects.toThrow(
        'did not answer within 0.2 s (targets): give --query-timeout more, or --for less',
      )
    }
  })

  it('ends when it is interrupted', async () => {
    const address = await serve(() => {})
    const ending = new AbortController()
    const asking = ask(address, { signal: ending.signal })
    ending.abort(new Error('interrupted'))
    await expect(asking).rejects.toThrow('interrupted')
  })

  it('says that cAdvisor is not scraped', async () => {
    const { stderr, exitCode } = await size(await servePrometheus({ 'count(up)': [[{}, 3]] }))
    expect(stderr).toContain(
      'has no container_cpu_usage_seconds_total (it scrapes 3 targets): cAdvisor is in each kubelet',
    )
    expect(exitCode).toBe(3)
    expect((await size(await servePrometheus({}))).stderr).toContain('(it scrapes nothing)')
  })

  it('says that its labels are dropped', async () => {
    const address = await servePrometheus({ 'count(container_cpu_usage_seconds_total)': [[{}, 9]] })
    expect((await size(address)).stderr).toContain('has no labels namespace and container')
  })
})

describe('the ratios of several sidecars', () => {
  it('say why a container has none, if another has', async () => {
    const use = (/** @type {string} */ container) =>
      /** @type {[Record<string, string>, number]} */ ([{ namespace: 'shop', pod: `${container}-0`, container }, 0.05])
    const address = await servePrometheus({ 'avg_over_time(max by': [use('istio-proxy'), use('linkerd-proxy')] })
    const { stdout, stderr } = await size(
      ...[address, '--plane', 'pipy', '--ratios', 'test/fixtures/runs/load', '--json'],
    )
    expect(stderr).toBe('')
    const { plane, warnings } = JSON.parse(stdout)
    expect(Object.keys(plane.ratios)).toEqual(['istio-proxy'])
    expect(warnings).toEqual([
      expect.stringMatching(
        /^--ratios \S+: it measured .*none that stands for linkerd-proxy \(linkerd:deployed, linkerd\)/,
      ),
    ])
  })
})

describe('options of size --from-prometheus', () => {
  it.for([
    ['no namespace', '--from-prometheus http://x', 'needs --namespace'],
    [
      'no address',
      '--from-prometheus localhost:9090 --namespace shop',
      'an address such as http://localhost:9090 is needed',
    ],
    [
      'a password that is not percent-encoded',
      '--from-prometheus http://a%zz:b@x --namespace shop',
      'a % in its user or password is written as %25',
    ],
    ['a load', '--from-prometheus http://x --namespace shop --rate 5', 'measures nothing: leave out --rate'],
    [
      'planes to measure',
      '--from-prometheus http://x --namespace shop --planes pipy',
      'or name one to compare with as --plane',
    ],
    ['a pattern', '--from-prometheus http://x --namespace sh.*', '"sh.*" is no name of a namespace or container'],
    [
      'a dot, which a pattern takes for any character',
      '--from-prometheus http://x --namespace shop --container istio-proxy,istio.proxy',
      '"istio.proxy" is no name of a namespace or container in Kubernetes: a–z, 0–9 and hyphens, 63 at most',
    ],
    ['no time', '--from-prometheus http://x --namespace shop --for 1y', 'a time such as 12h or 7d is needed'],
    [
      'a plane without ratios',
      '--from-prometheus http://x --namespace shop --plane pipy',
      '--plane pipy needs --ratios results/RUN',
    ],
    ['ratios without a plane', '--from-prometheus http://x --namespace shop --ratios a', '--ratios a needs --plane'],
    ['another format', '--from-prometheus http://x --namespace shop --format helm', 'has json, csv and yaml'],
    ['a format of workloads', '--rate 5 --p99 5ms --format csv', '--format csv is of --from-prometheus'],
    ['a namespace alone', '--rate 5 --p99 5ms --namespace shop', '--namespace needs --from-prometheus'],
  ])('refuses %s', async ([, words, message]) => {
    const { stderr, exitCode } = await cli('size', .../** @type {string} */ (words).split(' '))
    expect(stderr).toContain(message)
    expect(exitCode).toBe(2)
  })
})
