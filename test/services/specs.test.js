import { expect, it } from 'vitest'
import { listDeployed } from '../../src/services/specs.js'

const planes = {
  pipy: { profiles: ['lean', 'fsm'], deployed: { fsm: { from: 'FSM', deviations: ['no repository'] } } },
  envoy: { profiles: ['lean'] },
}
const arm = (/** @type {string} */ plane, /** @type {string | null} */ profile = null) => ({ plane, profile })

it('lists each profile that a mesh deploys once', () => {
  const arms = [arm('pipy'), arm('pipy', 'fsm'), arm('envoy'), arm('envoy', 'x'), arm('pipy', 'fsm')]
  expect(listDeployed(planes, arms)).toEqual([{ plane: 'pipy:fsm', from: 'FSM', deviations: ['no repository'] }])
  expect(listDeployed(planes, [arm('pipy'), arm('envoy')])).toEqual([])
})
