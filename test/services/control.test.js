import { describe, expect, it } from 'vitest'
import { createProcess } from '../../src/model/processes.js'
import { createPlace } from '../../src/model/sidecar-contract.js'
import { CONTROL, createBatch } from '../../src/services/control.js'
import { createSpecs } from '../../src/services/specs.js'
import { createControlledPlane } from '../fakes/fake-control.js'
import { createServices } from '../fakes/fake-services.js'

/** @import { SidecarOptions } from '../../src/model/types.ts' */

const addresses = { client: '127.9.0.1', server: '127.9.0.2', [CONTROL]: '127.9.0.3' }
const hostsOf = (/** @type {SidecarOptions} */ { model }) =>
  model.outbound?.routes.map(({ host }) => host).join(' ') ?? ''
const plane = createControlledPlane({
  enrol: options => [{ kind: 'move', file: 'enrolled', content: hostsOf(options) }],
  stage: options => [{ kind: 'move', file: 'staged', content: hostsOf(options) }],
  commit: (_, version) => [{ kind: 'move', file: 'committed', content: `${version}` }],
})
const rotated = createControlledPlane({
  commit: options => [
    {
      ...{ kind: 'move', file: 'committed' },
      content: `${options.isRotated} ${options.model.trust.keyPath} ${hostsOf(options)}`,
    },
  ],
})
const gateway = { name: 'client', application: /** @type {const} */ ('echo'), calls: [] }
const places = Object.fromEntries(Object.entries(addresses).map(([name, address]) => [name, createPlace(address)]))
const specsAt = (/** @type {number | null} */ changesPerMinute) =>
  createSpecs(createServices({ plane, places, conditions: { changesPerMinute } }))

describe('one sidecar that is changed while it serves', () => {
  const { specs, controlled } = specsAt(0)

  it('has the control plane of a rollout, at a place of its own', () => {
    expect(controlled?.control).toMatchObject({
      ...{ service: CONTROL, role: 'control', folder: '/raw/t/mesh', cpuLimitCores: null },
      listens: [{ address: '127.9.0.3', port: 6070 }],
    })
    expect(specs.map(({ service, role }) => [service, role])).toEqual([
      ['client', 'sidecar'],
      ['server', 'application'],
      ['server', 'sidecar'],
    ])
    // A sidecar that listens to it: the others are started as ever.
    expect(specs.map(({ argv }) => argv[0] === 'run')).toEqual([true, false, false])
  })

  it('takes each version by what stages and commits it, with a route to a host that no other has', () => {
    expect(controlled?.member.enrolment).toMatchObject([{ content: 'server version-0.test' }])
    expect(controlled?.member.changeTo(2)).toMatchObject({
      ...{ endpoint: { address: '127.9.0.1', port: 15001 }, host: 'version-2.test' },
      stage: [{ file: 'staged', content: 'server version-2.test' }],
      commit: [{ file: 'committed', content: '2' }],
    })
  })

  it('is given its second certificate and its first in turn, which a new connection must be shown', () => {
    const services = createServices({
      plane: rotated,
      places,
      conditions: { changesPerMinute: 60, changed: 'certificate' },
    })
    services.topology = { name: 'one', services: [gateway], entry: { service: 'client', listener: 'inbound' } }
    const { controlled } = createSpecs(services)
    const [next, back] = [1, 2].map(version => controlled?.member.changeTo(version))
    expect(next).toMatchObject({
      ...{ endpoint: { address: '127.9.0.1', port: 15003 }, host: 'client' },
      commit: [{ content: 'true /c/client-next-key.pem ' }],
      certificate: '/c/client-next.pem',
      credentials: { certificatePath: '/c/load-generator.pem' },
    })
    expect(back?.commit).toMatchObject([{ content: 'true /c/client-key.pem ' }])
  })

  it('cannot be given another certificate if no service calls it', () => {
    const conditions = /** @type {const} */ ({ changesPerMinute: 60, changed: 'certificate' })
    expect(() => createSpecs(createServices({ plane, places, conditions }))).toThrow('nobody calls client')
  })

  it('is null if nothing changes', () => {
    expect(specsAt(null).controlled).toBeNull()
  })
})

const spec = (/** @type {string} */ name, /** @type {string[]} */ argv = ['--name', name]) =>
  createProcess({
    ...{ service: name, copyOf: 'client', role: 'sidecar', program: '/bin/proxy', argv, env: { A: '1' } },
    ...{ folder: `/raw/t/${name}`, files: [{ name: 'own.json', content: name }], credentials: ['/c/ca.pem'] },
    listens: [{ address: `127.2.0.${name}`, port: 15001 }],
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
    ...{ cpuLimitCores: null, memoryLimitBytes: null, cpuSet: null, image: null, admin: null },
  })
})

it('refuses sidecars that are not started alike: their arguments would be mixed', () => {
  const specs = [spec('1'), spec('2', ['--one'])]
  expect(() => createBatch({ name: 'clients-1', folder: '/raw/t', specs })).toThrow('not started alike')
})
