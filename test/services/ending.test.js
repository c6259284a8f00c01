import { describe, expect, it } from 'vitest'
import { envoy } from '../../src/dataplanes/envoy/index.js'
import { pipy } from '../../src/dataplanes/pipy/index.js'
import { createPlace } from '../../src/model/sidecar-contract.js'
import { CONTROL } from '../../src/services/control.js'
import { createSpecs } from '../../src/services/specs.js'
import { copyLastService } from '../../src/services/topology.js'
import { createServices } from '../fakes/fake-services.js'

/** @import { Conditions, DataPlane } from '../../src/model/types.ts' */

const NAMES = ['client', 'server', 'server-2', CONTROL]
const places = Object.fromEntries(NAMES.map((name, i) => [name, createPlace(`127.1.1.${i + 1}`)]))

/** @param {DataPlane} plane @param {Conditions['ending']} ending @param {Partial<Conditions>} [others] */
function create(plane, ending, others) {
  const conditions = { services: 2, ...(ending && { ending }), ...others }
  const services = createServices({ plane, places, conditions })
  const programs = { ...services.programs, tools: { [plane.name]: services.programs.tools.cheap } }
  return createSpecs({ ...services, programs, topology: copyLastService(services.topology, 2) })
}
const sidecarOf = (/** @type {ReturnType<typeof create>} */ { specs }, /** @type {string} */ name) =>
  specs.find(({ service, role }) => service === name && role === 'sidecar')

describe('a sidecar that ends', () => {
  it('is that of the last copy alone, which its clients reach past their own sidecar', () => {
    const made = create(pipy, 'sigterm')
    expect(NAMES.map(name => sidecarOf(made, name)?.ends)).toEqual([undefined, undefined, true, undefined])
    expect(sidecarOf(made, 'server-2')?.copyOf).toBe('server')
    expect(made.ending).toMatchObject({
      steps: [{ kind: 'signal', signal: 'SIGTERM' }],
      server: { endpoint: { address: '127.1.1.3', port: 15003 }, host: 'server', client: 'client' },
    })
  })

  it('is null if nothing is to end', () => {
    const made = create(pipy, undefined)
    expect([made.ending, made.specs.some(({ ends }) => ends)]).toEqual([null, false])
  })

  it('is announced to its client before, which then calls the other copy alone', () => {
    const { ending, controlled } = create(pipy, 'told', { changesPerMinute: 0 })
    expect(ending?.steps).toEqual([{ kind: 'signal', signal: 'SIGINT' }])
    const bodyOf = (/** @type {any} */ actions) => JSON.parse(actions[0].body).clusters[0].endpoints
    expect(bodyOf(ending?.notice?.stage)).toMatchObject([{ address: '127.1.1.2' }])
    expect(bodyOf(controlled?.member.changeTo(1).stage)).toHaveLength(2)
    expect(create(pipy, 'graceful', { changesPerMinute: 0 }).ending?.notice).toBeNull()
  })

  it('drains by SIGINT with Pipy', () => {
    expect(create(pipy, 'graceful').ending?.steps).toEqual([{ kind: 'signal', signal: 'SIGINT' }])
  })

  it('drains by the administration port with Envoy, for a second longer than listeners take connections', () => {
    const made = create(envoy, 'graceful')
    const argv = sidecarOf(made, 'server-2')?.argv ?? []
    expect(argv.slice(-2)).toEqual(['--drain-time-s', '2'])
    expect(sidecarOf(made, 'server')?.argv).not.toContain('--drain-time-s')
    expect(made.ending?.steps).toMatchObject([
      { kind: 'request', path: '/drain_listeners?graceful', endpoint: { address: '127.1.1.3', port: 15000 } },
      { kind: 'wait', seconds: 3 },
      { kind: 'request', path: '/quitquitquit' },
    ])
  })
})
