import { describe, expect, it } from 'vitest'
import { runControlPlaneSteps } from '../../src/run/control-plane.js'

/** @import { Target } from '../../src/model/types.ts' */

function createTarget() {
  /** @type {string[]} */
  const log = []
  const target = /** @type {Target} */ (
    /** @type {any} */ ({
      deploy: async (/** @type {string[]} */ specs) => ({
        processes: specs.map(spec => ({ spec })),
        remove: async () => log.push(`removed ${specs}`),
      }),
      observe: (/** @type {unknown} */ _, /** @type {{ signal: AbortSignal }} */ { signal }) =>
        new Promise((resolve, reject) =>
          signal.addEventListener('abort', () => {
            log.push('observed')
            return log.includes('unreadable') ? reject(new Error('no counters')) : resolve(null)
          }),
        ),
    })
  )
  return { target, log }
}

const at = { start: 1, folder: 'x', signal: new AbortController().signal }

describe('runControlPlaneSteps', () => {
  it('leaves what was deployed to the caller, and ends what it began', async () => {
    const { target, log } = createTarget()
    const count = await runControlPlaneSteps({ target, ...at }, async course => {
      const processes = await course.deploy(/** @type {any} */ (['control']))
      course.observe(processes)
      course.addTeardown(() => log.push('closed'))
      return course.deployment.processes.length
    })
    expect(count).toBe(1)
    expect(log).toEqual(['observed', 'closed'])
  })

  it('removes all if a step throws, after the failure was explained', async () => {
    const { target, log } = createTarget()
    const chooseError = async (/** @type {any} */ error) => {
      log.push('explained')
      return new Error(`explained: ${error.message}`)
    }
    const passing = runControlPlaneSteps({ target, ...at, chooseError }, async course => {
      await course.deploy(/** @type {any} */ (['control']))
      course.failing.abort(new Error('the control plane ended'))
      course.signal.throwIfAborted()
    })
    await expect(passing).rejects.toThrow('explained: the control plane ended')
    expect(log).toEqual(['explained', 'removed control'])
  })

  it('removes all also where the failure cannot be explained', async () => {
    const { target, log } = createTarget()
    const chooseError = async () => {
      throw new Error('its log cannot be read')
    }
    const passing = runControlPlaneSteps({ target, ...at, chooseError }, async course => {
      await course.deploy(/** @type {any} */ (['control']))
      throw new Error('the control plane ended')
    })
    await expect(passing).rejects.toThrow('its log cannot be read')
    expect(log).toEqual(['removed control'])
  })

  it('ends every watch also where the reading of the control plane fails', async () => {
    const { target, log } = createTarget()
    log.push('unreadable')
    const passing = runControlPlaneSteps({ target, ...at }, async course => {
      course.observe(await course.deploy(/** @type {any} */ (['control'])))
      course.addTeardown(() => log.push('closed'))
    })
    await expect(passing).rejects.toThrow('no counters')
    expect(log).toEqual(['unreadable', 'observed', 'closed', 'removed control'])
  })
})
