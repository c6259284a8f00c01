import { expect, it } from 'vitest'
import { createBatch } from '../../src/services/control.js'

/** @import { ProcessSpec } from '../../src/model/types.ts' */

const spec = (/** @type {string} */ name, /** @type {string[]} */ argv = ['--name', name]) =>
  /** @type {ProcessSpec} */ ({
    ...{ service: name, copyOf: 'client', role: 'sidecar', program: '/bin/proxy', argv, env: { A: '1' } },
    ...{ folder: `/raw/t/${name}`, files: [{ name: 'own.json', content: name }], scripts: [] },
    ...{ credentials: ['/c/ca.pem'], listens: [{ address: `127.2.0.${name}`, port: 15001 }], workers: 1 },
    ...{ cpuCores: null, memoryLimitBytes: null, cpuSet: null, image: null },
    admin: { address: `127.2.0.${name}`, port: 15000, path: '/stats' },
  })

it('a batch is one process that starts each sidecar with its own arguments, in folders of their own', () => {
  const batch = createBatch({ name: 'clients-1', folder: '/raw/t', specs: [spec('1'), spec('2')] })
  expect(batch).toEqual({
    ...{ service: 'clients-1', copyOf: 'client', role: 'sidecar', batchOf: 2, program: 'xargs' },
    argv: ['-0', '-a', '/raw/t/clients-1.args', '-n', '2', '-P', '2', '/bin/proxy'],
    ...{ env: { A: '1' }, folder: '/raw/t', scripts: [], credentials: ['/c/ca.pem'], workers: 1 },
    files: [
      { name: 'clients-1.args', content: '--name\x001\0--name\x002\0' },
      { name: '1/own.json', content: '1' },
      { name: '2/own.json', content: '2' },
    ],
    listens: [
      { address: '127.2.0.1', port: 15001 },
      { address: '127.2.0.2', port: 15001 },
    ],
    ...{ cpuCores: null, memoryLimitBytes: null, cpuSet: null, image: null, admin: null },
  })
})

it('refuses sidecars that are not started alike: their arguments would be mixed', () => {
  const specs = [spec('1'), spec('2', ['--one'])]
  expect(() => createBatch({ name: 'clients-1', folder: '/raw/t', specs })).toThrow('not started alike')
})
