import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { killProcess } from '../../src/lib/kill-process.js'

describe('killProcess', () => {
  it('ends a process', async () => {
    const child = spawn('sleep', ['60'])
    onTestFinished(() => void child.kill('SIGKILL'))
    killProcess(Number(child.pid))
    expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
  })

  it('does nothing when the process has ended by itself, so that a cleanup goes on', async () => {
    const child = spawn('true')
    await once(child, 'exit')
    expect(() => killProcess(Number(child.pid))).not.toThrow()
  })
})
