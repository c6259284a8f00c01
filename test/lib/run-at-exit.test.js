import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runAtExit } from '../../src/lib/run-at-exit.js'

describe('runAtExit', () => {
  it('does what was not taken back, when the process ends', () => {
    const script = `
      import { runAtExit } from './src/lib/run-at-exit.js'
      const takeBacks = ['a', 'b', 'c'].map(name => runAtExit(() => process.stdout.write(name)))
      takeBacks[1]()
      process.exit(0)`
    expect(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })).toBe('ac')
  })

  it('adds one listener for all, and none is left', () => {
    const before = process.listenerCount('exit')
    const takeBacks = Array.from({ length: 20 }, () => runAtExit(() => {}))
    expect(process.listenerCount('exit')).toBe(before + 1)
    for (const takeBack of takeBacks) takeBack()
    expect(process.listenerCount('exit')).toBe(before)
  })
})
