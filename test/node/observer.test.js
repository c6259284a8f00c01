import { afterEach, describe, expect, it } from 'vitest'
import { observeProbes } from '../../src/node/observer.js'

const HOUR_MS = 3600 * 1000

/** @type {any} */
const probe = {
  read: () => ({}),
  readCpuLimitCores: () => null,
  readThreads: () => [],
  readUsage: () => [],
  listOutside: () => [],
  readMemory: () => null,
  countListeners: () => 0,
  listListening: () => [],
  countConnections: () => 0,
  identify: () => [],
  readCpuSet: () => '',
}

describe('observe', () => {
  const wallClock = Date.now
  afterEach(() => {
    Date.now = wallClock
  })

  it.for([
    ['back', -HOUR_MS],
    ['forward', HOUR_MS],
  ])('ends at once when the clock is set %s within the window, and says so', async ([way, movedMs]) => {
    const window = { startMs: Date.now() + 200, endMs: Date.now() + 1500 }
    const onSample = (/** @type {{ edge?: string }} */ { edge }) => {
      if (edge === 'start') Date.now = () => wallClock() + Number(movedMs)
    }
    const began = performance.now()
    await expect(observeProbes([probe], { window, signal: new AbortController().signal, onSample })).rejects.toThrow(
      `the clock of this machine was set ${way} by 3600.0 s while a window was observed`,
    )
    expect(performance.now() - began).toBeLessThan(1500)
  })

  it('reads the CPU time of a group again beside that of its processes, with which it is compared', async () => {
    const window = { startMs: Date.now() + 50, endMs: Date.now() + 200 }
    let cpuSeconds = 0
    const working = { ...probe, read: () => ({ atSeconds: 1, cpuSeconds: ++cpuSeconds }) }
    const { end } = await observeProbes([working], { window, signal: new AbortController().signal })
    const [{ cpu }] = end?.states ?? []
    expect(cpu?.cpuSeconds).toBe(Number(end?.sample.readings[0]?.cpuSeconds) + 1)
  })

  it('reads to the end of the window if the clock is right', async () => {
    const window = { startMs: Date.now() + 50, endMs: Date.now() + 300 }
    const observation = await observeProbes([probe], { window, signal: new AbortController().signal })
    expect([observation.start?.sample.edge, observation.end?.sample.edge]).toEqual(['start', 'end'])
  })
})
