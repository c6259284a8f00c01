import { expect, it } from 'vitest'
import { listDeployedProfiles } from '../../src/services/profiles.js'
import { chooseCpuRequest } from '../../src/services/specs.js'

const planes = {
  pipy: { profiles: ['lean', 'fsm'], deployed: { fsm: { from: 'FSM', deviations: ['no repository'] } } },
  envoy: { profiles: ['lean'] },
}
const arm = (/** @type {string} */ plane, /** @type {string | null} */ profile = null) => ({ plane, profile })

it('lists each profile that a mesh deploys once', () => {
  const arms = [arm('pipy'), arm('pipy', 'fsm'), arm('envoy'), arm('envoy', 'x'), arm('pipy', 'fsm')]
  expect(listDeployedProfiles(planes, arms)).toEqual([
    { plane: 'pipy:fsm', from: 'FSM', deviations: ['no repository'] },
  ])
  expect(listDeployedProfiles(planes, [arm('pipy'), arm('envoy')])).toEqual([])
})

it('gives sidecars their CPU request, the neighbour what it burns, the load many times all CPUs, and the others all', () => {
  const conditions = /** @type {any} */ ({ cpuRequestCores: 0.1, neighbourCores: 2 })
  const roles = /** @type {const} */ (['sidecar', 'neighbour', 'application', 'generator', 'control'])
  expect(roles.map(role => chooseCpuRequest({ conditions }, { role, cpus: 4 }))).toEqual([0.1, 2, 4, 64, 4])
  const baseline = /** @type {any} */ ({ neighbourCores: 2 })
  const weights = roles.map(role => chooseCpuRequest({ conditions: baseline }, { role, cpus: 4 }))
  expect(weights).toEqual([4, 2, 4, 64, 4])
  const usual = /** @type {any} */ ({})
  expect(roles.map(role => chooseCpuRequest({ conditions: usual }, { role, cpus: 4 }))).toEqual(
    Array(5).fill(undefined),
  )
})
