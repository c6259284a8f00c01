import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { countSaves } from '../../src/verbs/lab.js'

const folder = mkdtempSync(path.join(os.tmpdir(), 'watch-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a file of an editor that is gone as it is read does not end --watch, and what is saved then is counted', async () => {
  const stop = new AbortController()
  const lock = path.join(folder, '.#main.js')
  writeFileSync(path.join(folder, 'main.js'), '1')
  symlinkSync('nowhere', lock)
  const lab = /** @type {any} */ ({ count: async () => [] })
  let counts = 0
  let waits = 0
  const watching = countSaves({
    ...{ lab, folder, hasParity: false, signal: stop.signal },
    show: async () => {
      counts++
    },
    say: () => {
      if (++waits === 2) stop.abort()
      // After the watch of the folder began.
      else setTimeout(() => [writeFileSync(path.join(folder, 'main.js'), '2'), rmSync(lock)], 100)
    },
  })
  await expect(watching).rejects.toThrow('aborted')
  expect(counts).toBe(2)
})
