import { execa } from 'execa'
import { describe, expect, it } from 'vitest'

// What the second half may add, beside noise: names of trials, and what the engine compiled.
const GROWTH_MOST_BYTES = 1e6

describe('a run of eight hours', () => {
  it('has a record of every trial, and its memory stays flat', { timeout: 120_000 }, async () => {
    const { stdout } = await execa('node', ['--expose-gc', 'test/fakes/long-run.js'])
    const { plannedSeconds, outcomes, heapBytes } = JSON.parse(stdout)
    expect(plannedSeconds).toBeGreaterThan(8 * 3600)
    expect(outcomes).toHaveLength(408)
    expect(outcomes).not.toContain('failed')
    // A machine that stands still for a second makes the trial of that moment invalid.
    const completed = outcomes.filter((/** @type {string} */ outcome) => outcome === 'completed')
    expect(completed.length).toBeGreaterThan(400)
    expect(heapBytes).toHaveLength(4)
    expect(heapBytes[3] - heapBytes[0]).toBeLessThan(GROWTH_MOST_BYTES)
  })
})
