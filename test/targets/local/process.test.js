import { closeSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { boundLog, openLog } from '../../../src/targets/local/process.js'
import { makeFolder } from '../../fakes/scratch.js'

const folder = makeFolder('process-log')

it('cuts a log that has grown too large down to its end, while its process goes on, and says so', async () => {
  const file = path.join(folder, 'a.log')
  const log = openLog(file)
  writeSync(log, 'first\n')
  expect(await boundLog(file, 6)).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe('first\n')
  writeSync(log, 'second\n')
  writeSync(log, 'x'.repeat(100_000))
  expect(await boundLog(file, 1000)).toBe(true)
  writeSync(log, 'third\n')
  closeSync(log)
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(/^\[sidecar-bench cut this log at 0\.1 MiB; its end:\]\nx+third\n$/)
  expect(text.length).toBeLessThan(70_000)
})

it('has nothing to do where the log is gone', async () => expect(await boundLog(path.join(folder, 'none'))).toBe(false))
