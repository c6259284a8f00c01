import { watch } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { nameCpu, readLimits } from '../../src/node/machine.js'

describe('what this machine still has', () => {
  it('has an inotify instance less while this process watches a file', () => {
    const before = readLimits()
    const watcher = watch('/proc/self/cwd')
    try {
      expect(readLimits().inotifyInstancesUsed).toBeGreaterThan(before.inotifyInstancesUsed)
    } finally {
      watcher.close()
    }
    expect(before.inotifyInstances).toBeGreaterThan(before.inotifyInstancesUsed)
  })
})

it.each([
  ['AMD EPYC ', null, 'AMD EPYC'],
  ['unknown', 'Raspberry Pi 4 Model B Rev 1.4\0', 'Raspberry Pi 4 Model B Rev 1.4'],
  ['', null, 'unknown'],
])('a CPU that is told as %j, on the board %j, is %j', (model, board, name) => {
  expect(nameCpu(model, board)).toBe(name)
})
