import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { isTooDeep, readBounded, readLines } from '../../src/lib/read-file.js'
import { readAnyExperiment } from '../../src/prepare/read-experiment.js'
import { readClaims } from '../../src/verbs/read-claims.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('read-file')
const at = (/** @type {string} */ name) => path.join(folder, name)

describe('readBounded', () => {
  it.each(['pipe', 'device', 'folder'])('refuses a %s at once, also as an experiment or as claims', kind => {
    mkdirSync(at(kind))
    const file = at(`${kind}/x.yaml`)
    if (kind === 'pipe') execFileSync('mkfifo', [file])
    else if (kind === 'device') execFileSync('ln', ['-s', '/dev/zero', file])
    else mkdirSync(file)
    const words = `cannot read ${file}: it is a directory, a pipe or a device, and not a file`
    expect(() => readBounded(file)).toThrow(words)
    expect(() => readAnyExperiment(file)).toThrow(words)
    expect(() => readClaims(at(kind), { experiments: [] })).toThrow(words)
  })

  it('reads up to a size, and says which', () => {
    writeFileSync(at('text'), 'ä'.repeat(100))
    expect(readBounded(at('text'), 200)).toBe('ä'.repeat(100))
    expect(() => readBounded(at('text'), 199)).toThrow(/holds more than 0\.0 MiB, the most that is read$/)
    expect(() => readBounded(at('nowhere'))).toThrow('ENOENT')
  })
})

describe('readLines', () => {
  const LIMITS = { bytes: 2 ** 22, lineBytes: 2 ** 21, lines: 4 }

  it('gives the lines that a split gives, over the ends of what is read at once', () => {
    const texts = ['', 'a', 'a\n', '\n\n', `${'ä'.repeat(2 ** 19)}x\n${'b'.repeat(2 ** 20)}\nc`]
    for (const text of texts) {
      writeFileSync(at('lines'), text)
      expect([...readLines(at('lines'), LIMITS)]).toEqual(text.split('\n'))
    }
  })

  it('keeps a character that is cut off to its own line', () => {
    writeFileSync(at('lines'), Buffer.from('caf\xe9\nb', 'latin1'))
    expect([...readLines(at('lines'), LIMITS)]).toEqual(['caf\ufffd', 'b'])
  })

  it.each([
    ['lines', '\n\n\n\n', /has more than 4 lines/],
    ['bytes in a line', `\n${'a'.repeat(2 ** 21 + 1)}\n`, /lines:2 is longer than 2\.0 MiB/],
    ['bytes of few characters in a line', `\n${'ä'.repeat(2 ** 20)}x\n`, /lines:2 is longer than 2\.0 MiB/],
    ['bytes', `${'a'.repeat(2 ** 21)}\n`.repeat(2), /holds more than 4\.0 MiB/],
  ])('refuses more %s than a limit, and says the limit', (_, text, words) => {
    writeFileSync(at('lines'), text)
    expect(() => [...readLines(at('lines'), LIMITS)]).toThrow(words)
  })
})

describe('isTooDeep', () => {
  it('counts what is open at once, outside of strings', () => {
    expect(isTooDeep(`${'['.repeat(64)}${']'.repeat(64)}`)).toBe(false)
    expect(isTooDeep('{"a":'.repeat(65))).toBe(true)
    expect(isTooDeep(`["${'['.repeat(100)}\\"${'['.repeat(100)}"]`)).toBe(false)
    expect(isTooDeep('[],'.repeat(100))).toBe(false)
  })
})
