import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { INPUTS, renderFigures, tryParser } from './harness.js'

/** @import { Figures, Parser } from './harness.js' */

// A tenth of a second an input is more than any takes.
const timeout = 60_000 + 100 * INPUTS

/**
 * Tries parsers, and writes what became of their inputs to `results/fuzz-<name>.md` where FUZZ_INPUTS says how many.
 * @param {string} name of the file @param {Parser[]} parsers
 */
export function tryParsers(name, parsers) {
  /** @type {Figures[]} */
  const figures = []
  const before = readdirSync('.').sort()

  describe('inputs that are nearly right give a valid value, or an error that a person can read', () => {
    it.each(parsers)('$name', { timeout }, async parser => {
      figures.push(await tryParser(parser))
      // After each: a run that is cut off keeps what it has tried.
      if (process.env.FUZZ_INPUTS) {
        mkdirSync('results', { recursive: true })
        writeFileSync(`results/fuzz-${name}.md`, renderFigures(figures))
      }
      expect(figures.at(-1)?.inputs).toBeGreaterThan(0)
    })

    it('leave no file outside of the folder that they are in', () => {
      expect(readdirSync('.').filter(name => name !== 'results')).toEqual(before.filter(name => name !== 'results'))
      expect(existsSync('/tmp/fuzz-escaped')).toBe(false)
    })
  })
}
