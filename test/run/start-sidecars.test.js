import { expect, it } from 'vitest'
import { createRolloutPoller } from '../../src/node/rollout-poller.js'
import { startSidecars } from '../../src/run/start-sidecars.js'

/** @import { Handle, ProcessSpec } from '../../src/model/types.ts' */

it('starts no more pods once the control plane has ended', async () => {
  const ending = new AbortController()
  const specs = Array.from({ length: 10 }, (_, i) => /** @type {ProcessSpec} */ ({ service: `client-${i + 1}` }))
  let made = 0
  const poller = createRolloutPoller()
  const starting = startSidecars({
    ...{ poller, arePods: true, deadlineSeconds: 1, fail: () => {}, signal: ending.signal },
    batches: specs.map(spec => ({ spec, members: [] })),
    async deploy(specs, how) {
      for (const spec of specs) {
        if (++made === 2) ending.abort(new Error('the control plane has ended'))
        how?.onStart?.(/** @type {Handle} */ ({ spec }))
      }
      return []
    },
  })
  await expect(starting).rejects.toThrow('the control plane has ended')
  poller.close()
  expect(made).toBe(2)
})
