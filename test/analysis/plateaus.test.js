import { describe, expect, it } from 'vitest'
import { findPlateaus } from '../../src/analysis/fits.js'
import { summariseValues } from '../../src/lib/stats.js'
import { renderArmName } from '../../src/model/arms.js'
import { renderPlateaus } from '../../src/report/fits.js'
import { createSummary } from '../fakes/fake-summary.js'

/** A run over the commits a second: six rounds of each time of a change. @param {Record<number, (number | null)[]>} times */
function createRun(times) {
  const arms = Object.entries(times).map(([rate, values]) => ({
    plane: 'pipy',
    load: { kind: /** @type {const} */ ('idle') },
    conditions: { sidecars: 200, commitsPerSecond: Number(rate) },
    fields: /** @type {any} */ ({ boundBy: null, rollout: { changeAllSeconds: summariseValues(values) } }),
  }))
  const shows = { quantities: ['changeAllSeconds'], across: /** @type {const} */ ('commitsPerSecond'), contrasts: [] }
  return createSummary(arms, {
    shows: { ...shows, hasCpuLine: false, hasSlopes: false, plateaus: ['changeAllSeconds'] },
  })
}
/** Six rounds, 1 % apart. @param {number} seconds */
const six = seconds => [0.98, 0.99, 1, 1, 1.01, 1.02].map(factor => factor * seconds)

describe('a plateau', () => {
  it('begins at the smallest value within 10 % of the best, with the interval of that ratio', () => {
    const run = createRun({ 300: six(1.02), 50: six(4), 100: six(2), 150: six(1.05), 200: six(1) })
    const [{ from, best, last, isSure, ratio }] = findPlateaus(run)
    expect({ from, last, isSure }).toEqual({ from: 150, last: 300, isSure: true })
    expect(best).toEqual({ at: 200, median: 1 })
    expect(ratio.median).toBeCloseTo(1.05)
    expect(renderPlateaus(run)).toEqual([
      'Plateau, the smallest value that is within 10 % of the best (ratio to the best, round by round [95 % interval]):',
      '  pipy: change of all s is least at commits/s 200 (1.00); the plateau begins at commits/s 150, ratio 1.05 [1.05, 1.05]',
    ])
  })

  it('is none if the best value is 0: nothing has a ratio to it', () => {
    expect(findPlateaus(createRun({ 50: six(4), 100: six(2), 200: six(0) }))).toEqual([])
  })

  it('is not there if the last value is the first within 10 %', () => {
    const run = createRun({ 50: six(4), 100: six(2), 200: six(1) })
    expect(findPlateaus(run)[0]).toMatchObject({ from: 200, isSure: true })
    expect(renderPlateaus(run)[1]).toMatch(
      'no plateau up to 200: of the smaller values 100 is nearest, ratio 2.00 [2.00, 2.00]',
    )
  })

  it('is not sure if an interval reaches beyond 10 %, or there is none', () => {
    const noisy = [1.02, 1.05, 1.05, 1.06, 1.2, 1.3]
    const run = createRun({ 50: six(4), 100: noisy, 200: [1, 1, 1, 1, 1, 1] })
    expect(findPlateaus(run)[0]).toMatchObject({ from: 100, isSure: false })
    expect(renderPlateaus(run)[1]).toMatch(', not told apart by intervals')
    const once = createRun({ 50: [4], 100: [1.05], 200: [1] })
    expect(findPlateaus(once)[0]).toMatchObject({ from: 100, isSure: false })
    expect(renderPlateaus(once)[1]).toMatch(', indicative only')
  })

  it('leaves out a value that was spoiled, and says so', () => {
    const run = createRun({ 50: six(4), 100: [null, null], 150: six(1.05), 200: six(1) })
    expect(findPlateaus(run)[0]).toMatchObject({ from: 150, missing: [100] })
    expect(renderPlateaus(run)[1]).toMatch('; no value at 100')
  })

  it('goes on if sidecars are simulated, and says so', () => {
    const arms = [200, 400, 1600].map(sidecars => ({
      plane: 'envoy',
      load: { kind: /** @type {const} */ ('idle') },
      conditions: { sidecars, ...(sidecars > 400 && { simulated: sidecars - 400 }) },
      fields: /** @type {any} */ ({ boundBy: null, rollout: { controlPerSidecarBytes: summariseValues(six(200)) } }),
    }))
    const { shows, ...run } = createRun({ 50: six(1) })
    const showsSidecars = { ...shows, across: /** @type {const} */ ('sidecars'), plateaus: ['controlPerSidecar'] }
    const [plateau, ...others] = findPlateaus({ ...run, ...createSummary(arms, {}), shows: showsSidecars })
    expect(others).toEqual([])
    expect(plateau).toMatchObject({ from: 200, last: 1600 })
    expect(renderArmName(plateau.arm)).toBe('envoy (1200 of 1600 simulated)')
  })

  it('takes three values, and an experiment that asks', () => {
    expect(findPlateaus(createRun({ 50: six(4), 100: six(2) }))).toEqual([])
    const run = createRun({ 50: six(4), 100: six(2), 200: six(1) })
    const { plateaus, ...shows } = run.shows
    expect(renderPlateaus({ ...run, shows })).toEqual([])
  })
})
