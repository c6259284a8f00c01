import {
  chmodSync,
  chownSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { hashText } from '../../src/lib/hash.js'
import { openParityCache } from '../../src/parity/cache.js'
import { makeFolder } from '../fakes/scratch.js'

const DEPENDENCIES = { kit: 'a', tool: { sha256: 'b' } }
const ROW = { name: 'parity-tls', found: 'TLS 1.3', expected: 'TLS 1.3', differences: [] }

describe('the cache of equal-work checks', () => {
  let folder = ''
  beforeEach(() => {
    folder = path.join(makeFolder('parity-cache-test'), 'equal-work')
  })
  const open = (isRechecked = false) => openParityCache({ folder, isRechecked })
  const keep = () => {
    open().keep(DEPENDENCIES, [ROW])
    return path.join(folder, readdirSync(folder)[0])
  }

  it('has what passed, with all its rows and when that was, in files that only this user can read', () => {
    expect(open().find(DEPENDENCIES)).toBeNull()
    const file = keep()
    expect(open().find(DEPENDENCIES)).toEqual({ rows: [ROW], triedAt: expect.stringMatching(/^\d{4}-.*Z$/) })
    expect([statSync(folder).mode & 0o777, statSync(file).mode & 0o777]).toEqual([0o700, 0o600])
    expect(readdirSync(folder)).toHaveLength(1)
  })

  it('has nothing for anything else, nor where it is to be tried again', () => {
    keep()
    expect(open().find({ ...DEPENDENCIES, kit: 'c' })).toBeNull()
    expect(open(true).find(DEPENDENCIES)).toBeNull()
  })

  it.each([
    ['differs', { ...ROW, differences: ['a: b'] }],
    ['is not as expected', { ...ROW, found: 'TLS 1.2' }],
    ['is lacking by declaration', { ...ROW, lacks: ['no TLS 1.3'] }],
  ])('keeps nothing that %s', (_, row) => {
    open().keep(DEPENDENCIES, [ROW, row])
    expect(open().find(DEPENDENCIES)).toBeNull()
  })

  it('keeps no check that saw nothing', () => {
    open().keep(DEPENDENCIES, [])
    expect(open().find(DEPENDENCIES)).toBeNull()
  })

  it('keeps what differs in a row that is not held equal', () => {
    const suites = { ...ROW, name: 'parity-suites', found: 'another', lacks: ['it can leave out none'] }
    const rows = [ROW, { ...suites, differences: ['another suite'] }]
    open().keep(DEPENDENCIES, rows)
    expect(open().find(DEPENDENCIES)?.rows).toEqual(rows)
  })

  /** @type {[string, (file: string) => void][]} */
  const DAMAGE = [
    ['is cut short', file => writeFileSync(file, readFileSync(file, 'utf8').slice(0, -5))],
    ['has another byte', file => writeFileSync(file, readFileSync(file, 'utf8').replace('TLS 1.3', 'TLS 1.4'))],
    ['is empty', file => writeFileSync(file, '')],
    ['can be written by the group', file => chmodSync(file, 0o620)],
    ['can be written by everybody', file => chmodSync(file, 0o602)],
    ['lies in a folder that others can write to', file => chmodSync(path.dirname(file), 0o770)],
    [
      'is a link',
      file => {
        renameSync(file, `${file}.real`)
        symlinkSync(`${file}.real`, file)
      },
    ],
    [
      'is that of other dependencies, under this name',
      file => {
        const text = readFileSync(file, 'utf8').split('\n')[1].replace(path.basename(file, '.json'), hashText('other'))
        writeFileSync(file, `${hashText(text)}\n${text}`)
      },
    ],
    [
      'says that a check passed which did not',
      file => {
        const text = readFileSync(file, 'utf8').split('\n')[1].replace('"found":"TLS 1.3"', '"found":"TLS 1.2"')
        writeFileSync(file, `${hashText(text)}\n${text}`)
      },
    ],
  ]
  it.each(DAMAGE)('does not believe a file that %s', (_, damage) => {
    damage(keep())
    expect(open().find(DEPENDENCIES)).toBeNull()
  })

  it.runIf(process.getuid?.() === 0)("does not believe another user's file, nor a folder of theirs", () => {
    const file = keep()
    chownSync(file, 1000, 1000)
    expect(open().find(DEPENDENCIES)).toBeNull()
    chownSync(file, 0, 0)
    expect(open().find(DEPENDENCIES)).not.toBeNull()
    chownSync(folder, 1000, 1000)
    expect(open().find(DEPENDENCIES)).toBeNull()
  })

  it('lets the run go on if nothing can be written', () => {
    writeFileSync(`${folder}-file`, '')
    const cache = openParityCache({ folder: path.join(`${folder}-file`, 'equal-work') })
    cache.keep(DEPENDENCIES, [ROW])
    expect(cache.find(DEPENDENCIES)).toBeNull()
  })
})
