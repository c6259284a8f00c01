import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { readFileTail } from '../../src/lib/log-tail.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('tail')

it('reads the end of a file, and a shorter one whole', async () => {
  const file = path.join(folder, 'a.log')
  for (const text of ['', 'abc', 'abcdefgh']) {
    writeFileSync(file, text)
    expect(await readFileTail(file, 4)).toBe(text.slice(-4))
  }
  writeFileSync(file, 'x'.repeat(100_000))
  expect((await readFileTail(file)).length).toBe(65_536)
})
