import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createFiles } from '../../../src/targets/kubernetes/files.js'
import { makeFolder } from '../../fakes/scratch.js'

it('brings files in folders of their own, and keeps what it brought', async () => {
  const folder = makeFolder('files-test')
  /** @type {any[]} */
  const applied = []
  const api = /** @type {any} */ ({ apply: async (/** @type {any} */ object) => applied.push(object) })
  const spec = /** @type {any} */ ({
    ...{ service: 'gateway', folder: '/bench/own', scripts: [], credentials: [] },
    files: [{ name: 'modules/inbound.js', content: 'a script' }],
  })
  const { folders } = await createFiles({ api, namespace: 'run', labels: {} }).apply(spec, {
    ...{ name: 'gateway-1', labels: {}, folder },
  })
  expect(readFileSync(path.join(folder, 'gateway/modules/inbound.js'), 'utf8')).toBe('a script')
  expect(folders).toEqual([{ path: '/bench/own', configMap: 'gateway-1', names: ['modules/inbound.js'] }])
  // A key of a ConfigMap has no slash.
  const [[key, text]] = Object.entries(applied[0].data)
  expect([key.includes('/'), text]).toEqual([false, 'a script'])
})
