import { closeSync, readFileSync, writeSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { boundLog, openLog } from '../../../src/targets/local/process.js'
import { makeFolder } from '../../fakes/scratch.js'

const folder = makeFolder('process-log')

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
