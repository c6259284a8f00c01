import { expect, it } from 'vitest'
import { computeCpuCores } from '../../src/model/compute-cpu-cores.js'

it('divides the CPU time between two looks by the time between them', () => {
  expect(computeCpuCores({ atSeconds: 10, cpuSeconds: 3 }, { atSeconds: 14, cpuSeconds: 4 })).toBe(0.25)
})

it('gives no cores without two looks that have CPU time and are apart', () => {
  const look = { atSeconds: 10, cpuSeconds: 3 }
  expect([computeCpuCores(undefined, look), computeCpuCores(look, undefined)]).toEqual([null, null])
  expect([computeCpuCores(look, look), computeCpuCores(look, { ...look, cpuSeconds: 4 })]).toEqual([null, null])
})

it('gives 0 where CPU time went backwards', () => {
  expect(computeCpuCores({ atSeconds: 10, cpuSeconds: 3 }, { atSeconds: 11, cpuSeconds: 2 })).toBe(0)
})
