import { expect, it } from 'vitest'
import { isIdleCpuNeeded } from '../../src/judge/gates/answers.js'
import { lookWithIdleCpu } from '../../src/run/idle.js'
import { createArm } from '../fakes/fake-records.js'

const SELDOM = createArm({ load: { kind: 'open', ratePerSecond: 20, connections: 'new' } }).load

/**
 * Looks at a sidecar that uses so many cores in each span, the last in all that follow, and an application.
 * @param {number[]} cores @param {{ load?: import('../../src/model/types.ts').Load, isRead?: boolean, role?: string }} [options]
 */
async function look(cores, { load = SELDOM, isRead = true, role = 'sidecar' } = {}) {
  let seconds = 0
  let cpuSeconds = 0
  const processes = /** @type {any} */ ([{ spec: { role } }, { spec: { role: 'application' } }])
  const looks = await lookWithIdleCpu(processes, {
    loads: [load],
    look: async () =>
      /** @type {any} */ (
        [cpuSeconds, 0.5 * seconds].map(cpuSeconds => (isRead ? { cpu: { cpuSeconds, atSeconds: seconds } } : {}))
      ),
    wait: async ms => {
      cpuSeconds += ((cores[Math.round(seconds)] ?? cores.at(-1) ?? 0) * ms) / 1000
      seconds += ms / 1000
    },
  })
  return { seconds, idle: looks[0].idleCpuCores }
}

it('measures idle sidecars after the work of their start', async () => {
  // Certificates and first connections take most of two seconds.
  const { seconds, idle } = await look([0.3, 0.1, 0.002])
  expect(idle).toBeCloseTo(0.002, 9)
  expect(seconds).toBe(4)
})

it('takes two spans if they agree, and the least of six if they never do', async () => {
  expect(await look([0.002])).toEqual({ seconds: 2, idle: expect.closeTo(0.002, 9) })
  expect(await look([0.32, 0.16, 0.08, 0.04, 0.02, 0.005])).toEqual({ seconds: 6, idle: expect.closeTo(0.005, 9) })
})

it('takes no work of the start for idle, though a CPU limit holds it to the same in each span', async () => {
  expect(await look([0.1, 0.1, 0.1, 0.002])).toEqual({ seconds: 5, idle: expect.closeTo(0.002, 9) })
  expect(await look([0.3, 0.25, 0.001])).toEqual({ seconds: 4, idle: expect.closeTo(0.001, 9) })
  // No idle CPU is known of a sidecar that still works after six spans.
  expect(await look([0.1])).toEqual({ seconds: 6, idle: null })
})

it('waits for nothing if the check needs no idle CPU', async () => {
  const nothing = { seconds: 0, idle: undefined }
  expect(await look([0.1], { load: { ...SELDOM, connections: 'kept' } })).toEqual(nothing)
  expect(await look([0.1], { load: { ...SELDOM, ratePerSecond: undefined } })).toEqual(nothing)
  expect(await look([0.1], { load: { ...SELDOM, ratePerSecond: 5000 } })).toEqual(nothing)
  expect(await look([0.1], { isRead: false })).toEqual(nothing)
  // No sidecars: nothing is taken for seen.
  expect(await look([0.1], { role: 'application' })).toEqual(nothing)
})

it('needs idle CPU while an idle sidecar may use as much as is taken for work', () => {
  // 10 µs a request: at 1000/s as much as a hundredth of a core.
  expect(isIdleCpuNeeded({ connections: 'new', ratePerSecond: 999 }, { sidecars: 1 })).toBe(true)
  expect(isIdleCpuNeeded({ connections: 'new', ratePerSecond: 1000 }, { sidecars: 1 })).toBe(false)
  expect(isIdleCpuNeeded({ connections: 'new', ratePerSecond: 1000 }, { sidecars: 2 })).toBe(true)
  expect(isIdleCpuNeeded({ connections: 'new', ratePerSecond: 1998 }, { sidecars: 1, arms: 2 })).toBe(true)
})

it.each([
  ['two arms of a sidecar', ['pipy-1', 'envoy-1'], 1900, true],
  ['two arms of a sidecar, at a higher rate', ['pipy-1', 'envoy-1'], 2100, false],
  ['an arm without sidecars beside one with a sidecar', ['pipy-1'], 1900, true],
  ['an arm of two sidecars beside one without', ['pipy-1', 'pipy-1'], 2100, true],
])('needs idle CPU for the arm with the most sidecars: %s', async (_, armIds, ratePerSecond, isNeeded) => {
  const processes = armIds.map(armId => ({ spec: { role: 'sidecar', armId } }))
  const load = { ...SELDOM, ratePerSecond }
  const looks = await lookWithIdleCpu(/** @type {any} */ (processes), {
    loads: [load, load],
    look: async () => /** @type {any} */ (processes.map(() => ({ cpu: { cpuSeconds: 0, atSeconds: 0 } }))),
    wait: async () => {},
  })
  expect('idleCpuCores' in looks[0]).toBe(isNeeded)
})
