import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { hashFile } from '../../src/lib/hash.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('hash-test')

describe('hashFile', () => {
  it.each([
    ['no byte', Buffer.alloc(0)],
    ['a few bytes', Buffer.from('abc')],
    ['more than is read at a time', Buffer.alloc(2.5 * 2 ** 20, 'sidecar')],
  ])('is the SHA-256 of a file of %s', async (_, bytes) => {
    const file = path.join(folder, 'file')
    writeFileSync(file, bytes)
    expect(await hashFile(file)).toBe(createHash('sha256').update(bytes).digest('hex'))
  })

  it('says which file it cannot read', async () => {
    await expect(hashFile(path.join(folder, 'gone'))).rejects.toThrow(/ENOENT.*gone/)
  })
})
