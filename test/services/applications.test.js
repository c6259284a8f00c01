import { expect, it } from 'vitest'
import { createRequestKind } from '../../src/model/requests.js'
import { createApplication } from '../../src/services/applications.js'

const PLACE = {
  service: 'ratings',
  listen: { address: '127.0.0.2', port: 8080 },
  next: null,
  folder: '/f',
  scripts: '/echo',
}
const runtimeOf = (/** @type {string} */ name) => ({
  name,
  path: `/${name}`,
  version: '1.5.18',
  sha256: '',
  source: '',
})

it('passes an application its answer, and a service time only if there is one', () => {
  const requests = [
    createRequestKind({ responseBytes: 14336, serviceTime: 'exp:30ms' }, 1024),
    { ...createRequestKind({ method: 'PUT', requestBytes: 5 }, 1024), path: '/carts' },
  ]
  for (const [name, script] of [
    ['pipy', '/echo/answer.js'],
    ['node', '/echo/node/answer.js'],
  ]) {
    const { argv } = createApplication({ ...PLACE, kind: 'answer', requests, runtime: runtimeOf(name) })
    expect(argv).toEqual(expect.arrayContaining([script, '127.0.0.2:8080']))
    expect(JSON.parse(/** @type {string} */ (argv.at(-1)))).toEqual([
      { method: 'GET', path: '/', requestBytes: 0, responseBytes: 14336, waitMs: 30, isExponential: true },
      { method: 'PUT', path: '/carts', requestBytes: 5, responseBytes: 1024 },
    ])
  }
})

it('passes how many chunks an answer has', () => {
  const requests = [createRequestKind({ responseBytes: 10, chunks: '10/5ms' }, 1024)]
  const { argv } = createApplication({ ...PLACE, kind: 'answer', requests, runtime: runtimeOf('node') })
  expect(JSON.parse(/** @type {string} */ (argv.at(-1)))).toMatchObject([{ chunks: { count: 10, gapMs: 5 } }])
})

it('passes an echo nothing but its address', () => {
  const { argv } = createApplication({ ...PLACE, kind: 'echo', runtime: runtimeOf('node') })
  expect(argv).toEqual(['/echo/node/echo.js', '127.0.0.2:8080'])
})

it('gives an echo over TLS its certificate and its key, and has them readable', () => {
  const credentials = { certificatePath: '/c/a.pem', keyPath: '/c/a-key.pem' }
  const spec = createApplication({ ...PLACE, kind: 'tls-echo', runtime: runtimeOf('node'), credentials })
  expect(spec.argv).toEqual(['/echo/node/tls-echo.js', '127.0.0.2:8080', '/c/a.pem', '/c/a-key.pem'])
  expect(spec.credentials).toEqual(['/c/a.pem', '/c/a-key.pem'])
})
