import { expect, it } from 'vitest'
import { k6 } from '../../../src/loads/k6/index.js'
import { createArm } from '../../fakes/fake-records.js'

/** @param {number} bytes of the body */
const createWith = bytes =>
  k6.createGenerator(
    /** @type {any} */ ({
      tool: { path: 'k6' },
      scripts: '/k6',
      urls: ['http://10.0.0.1:80'],
      host: 'ratings',
      certificate: null,
      load: createArm({}).load,
      request: {
        method: 'POST',
        headers: { authorization: 'Bearer secret' },
        body: 'x'.repeat(bytes),
        status: 201,
        bytes: 2,
      },
      tailMs: 0,
      admin: null,
      cpus: 1,
      folder: '/run',
    }),
  )

it('refuses a request of a pipeline that k6 cannot be given', () => {
  expect(createWith(100_000).env.OWN_REQUESTS).toHaveLength(
    100_000 + '[{"method":"POST","headers":{"authorization":"Bearer secret"},"body":"","status":201,"bytes":2}]'.length,
  )
  expect(() => createWith(131_072)).toThrow(
    /are 13\d+ bytes together, and k6 is given at most 131071: choose a smaller/,
  )
})

it('gives it to k6 beside its arguments, which records keep: a header may be a secret', () => {
  const { argv, env } = createWith(10)
  expect(argv.join(' ')).not.toContain('secret')
  expect(env.OWN_REQUESTS).toContain('Bearer secret')
})
