import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { findFileLimit } from '../../src/node/kernel/proc-files.js'
import { chooseCpuName, readLimits } from '../../src/node/machine.js'

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
])('a CPU that is reported as %j, on the board %j, is %j', (model, board, name) => {
  expect(chooseCpuName(model, board)).toBe(name)
})

describe('findFileLimit', () => {
  it('names a process that may open no more files', async () => {
    const script =
      'ulimit -n 9; exec 3</dev/null 4</dev/null; echo ready; read line; exec 5</dev/null 6</dev/null 7</dev/null 8</dev/null; echo full; read line'
    const child = spawn('/bin/bash', ['-c', script])
    const pid = Number(child.pid)
    try {
      await once(child.stdout, 'data')
      expect(findFileLimit(pid)).toBeNull()
      child.stdin.write('\n')
      await once(child.stdout, 'data')
      // bash holds one more.
      expect(findFileLimit(pid)).toMatch(/^process \d+ has 1?[09] files open, and may have 9 \(ulimit -n\)$/)
    } finally {
      child.kill()
    }
    expect(findFileLimit(2 ** 30)).toBeNull()
  })
})
