import { describe, expect, it } from 'vitest'
import { createRandom } from '../../src/lib/random.js'
import { countNeeded, findSplit, findSteps } from '../../src/lib/steps.js'

// Annual flow of the Nile at Aswan, 1871 to 1970 (Cobb, Biometrika 65, 1978): it fell in 1899.
const NILE = `1120 1160 963 1210 1160 1160 813 1230 1370 1140 995 935 1110 994 1020 960 1180 799 958 1140 1100 1210 1150
  1250 1260 1220 1030 1100 774 840 874 694 940 833 701 916 692 1020 1050 969 831 726 456 824 702 1120 1100 832 764 821
  768 845 864 862 698 845 744 796 1040 759 781 865 845 944 984 897 822 1010 771 676 649 846 812 742 801 1040 860 874 848
  890 744 749 838 1050 918 986 797 923 975 815 1020 906 901 1170 912 746 919 718 714 740`
  .split(/\s+/)
  .map(Number)

/** Normal noise (Box and Muller). @param {number} count @param {number} seed */
function createNoise(count, seed) {
  const random = createRandom(seed)
  return Array.from({ length: count }, () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random()))
}

describe('the steps of a series', () => {
  it('are found where the Nile fell, and nowhere else', () => {
    expect(NILE).toHaveLength(100)
    expect(findSteps(NILE, { alpha: 0.05 })).toEqual([{ at: 1899 - 1871, p: expect.any(Number) }])
  })

  it('are split by the energy distance, worked by hand', () => {
    // 3 · 3 / 6 · (2 · 4 - 0 - 0)
    expect(findSplit([1, 1, 1, 5, 5, 5])).toEqual({ at: 3, statistic: 12 })
    // 3 · 3 / 6 · (2 · 27 / 9 - 2 · 4 / 6 - 2 · 4 / 6)
    expect(findSplit([1, 2, 3, 4, 5, 6])).toEqual({ at: 3, statistic: expect.closeTo(5) })
    expect(findSplit([1, 1, 5, 5, 5])).toEqual({ at: 0, statistic: 0 })
  })

  it('are all found: up, down, and a few values before the end', () => {
    const levels = [...Array(10).fill(0), ...Array(8).fill(6), ...Array(10).fill(0), ...Array(4).fill(-9)]
    const noise = createNoise(levels.length, 7)
    const found = findSteps(
      levels.map((level, i) => level + noise[i]),
      { alpha: 0.05 },
    )
    expect(found.map(step => step.at)).toEqual([10, 18, 28])
  })

  it.each([
    ['normal noise', 30, 0.02, (/** @type {number} */ value) => value],
    ['noise with outliers', 30, 0.02, (/** @type {number} */ value) => value ** 5],
    ['few values', 10, 0.02, (/** @type {number} */ value) => value],
  ])('are found in at most 5 of 100 series of %s without any', (_, count, alpha, shape) => {
    const alarms = Array.from({ length: 100 }, (_, seed) => createNoise(count, 1 + seed).map(shape)).filter(
      (series, seed) => findSteps(series, { alpha, seed }).length > 0,
    )
    expect(alarms.length).toBeLessThanOrEqual(5)
  })

  it('are shown in real runs only where they hold: 16 short runs beside other work, of a dearer script from the seventh on', () => {
    // Pipy 1.5.18, k6 1.1.0: CPU per request of the sidecar, and of the applications where there is none, µs.
    const sidecar = [64.5, 57.2, 71.2, 55.7, 53.2, 68.2, 76.9, 102, 68.3, 71, 93.5, 92.5, 107, 129, 121, 90.1]
    const without = [27.2, 26.4, 35.4, 30, 36.6, 27.5, 34.3, 26, 20.9, 21, 25.3, 29.7, 33, 32, 30.9, 27.4]
    const alpha = 0.02 / 3
    expect(findSteps(without.map(Math.log), { alpha })).toEqual([])
    // The noise of a quarter hides where it began.
    expect(findSteps(sidecar.map(Math.log), { alpha: 0.02 })).toEqual([{ at: 10, p: expect.closeTo(0.008, 2) }])
  })

  it('are none of one outlier, of equal values, or of nothing', () => {
    expect(findSteps([1, 1.1, 1, 1.1, 9, 1, 1.1, 1, 1.1, 1], { alpha: 0.05 })).toEqual([])
    expect(findSteps(Array(20).fill(3), { alpha: 0.05 })).toEqual([])
    expect(findSteps([], { alpha: 0.05 })).toEqual([])
  })

  it.each([
    [0.05, 9],
    [0.05 / 3, 10],
    [0.05 / 6, 12],
  ])('can be shown at %d of %d values, and not of one fewer', (alpha, needed) => {
    const half = Math.floor(needed / 2)
    expect(countNeeded(alpha)).toBe(needed)
    expect(findSteps([...Array(half).fill(1), ...Array(needed - half).fill(2)], { alpha })).toHaveLength(1)
    const fewer = Math.floor(half / 2)
    expect(findSteps([...Array(fewer).fill(1), ...Array(half - fewer).fill(2)], { alpha })).toEqual([])
  })
})
