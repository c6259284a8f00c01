import { watch } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { readLimits } from '../../src/node/machine.js'

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
