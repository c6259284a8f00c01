import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { afterAll, describe, expect, it } from 'vitest'
import { BUNDLE_PARSERS } from './bundle-parsers.js'
import { CLUSTER_PARSERS } from './cluster-parsers.js'
import { INPUTS, renderFigures, tryParser } from './harness.js'
import { KERNEL_FOLDER, KERNEL_PARSERS } from './kernel-parsers.js'
import { PRODUCTION_PARSERS } from './production-parsers.js'
import { RUN_FOLDER, RUN_PARSERS } from './run-parsers.js'
import { TEXT_PARSERS } from './text-parsers.js'
import { TRAFFIC_PARSERS } from './traffic-parsers.js'

/** @import { Figures } from './harness.js' */

// A tenth of a second an input is more than any takes.
const timeout = 60_000 + 100 * INPUTS
/** @type {Figures[]} */
const figures = []
const before = readdirSync('.').sort()

afterAll(() => {
  for (const folder of [KERNEL_FOLDER, RUN_FOLDER]) rmSync(folder, { recursive: true, force: true })
  if (!process.env.FUZZ_INPUTS) return
  mkdirSync('results', { recursive: true })
  writeFileSync('results/fuzz.md', renderFigures(figures))
})

describe('inputs that are nearly right give a valid value, or an error that a person can read', () => {
  it.each([
    ...TEXT_PARSERS,
    ...TRAFFIC_PARSERS,
    ...PRODUCTION_PARSERS,
    ...KERNEL_PARSERS,
    ...CLUSTER_PARSERS,
    ...RUN_PARSERS,
    ...BUNDLE_PARSERS,
  ])('$name', { timeout }, async parser => {
    figures.push(await tryParser(parser))
    expect(figures.at(-1)?.inputs).toBeGreaterThan(0)
  })

  it('leave no file outside of the folder that they are in', () => {
    expect(readdirSync('.').sort()).toEqual(before)
    expect(readdirSync(RUN_FOLDER).sort()).toEqual(['bundle.tar.gz', 'changed', 'ledgers', 'runs', 'unpacked', 'whole'])
    expect(existsSync('/tmp/fuzz-escaped')).toBe(false)
  })
})
