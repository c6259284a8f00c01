import { closeSync, mkdtempSync, readFileSync, rmSync, writeSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { boundLog, openLog } from '../../../src/targets/local/process.js'

const folder = mkdtempSync(path.join(os.tmpdir(), 'process-log-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('empties a log that has grown too large, while its process goes on', () => {
  const file = path.join(folder, 'a.log')
  const log = openLog(file)
  writeSync(log, 'first\n')
  boundLog(file, 6)
  expect(readFileSync(file, 'utf8')).toBe('first\n')
  writeSync(log, 'second\n')
  boundLog(file, 6)
  writeSync(log, 'third\n')
  closeSync(log)
  expect(readFileSync(file, 'utf8')).toBe('third\n')
})

it('has nothing to do where the log is gone', () => expect(() => boundLog(path.join(folder, 'none'))).not.toThrow())
