import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listMarkedProcesses, renderMarks } from '../../../src/targets/local/marks.js'

const RUN = `marks-test-${process.pid}`

/** @param {Parameters<typeof renderMarks>[0]} marks */
async function startMarked(marks) {
  const child = spawn('sleep', ['60'], { env: { PATH: process.env.PATH, ...renderMarks(marks) } })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child, 'spawn')
  return child
}

describe('listMarked', () => {
  it('finds the processes of every run, each with its run, its start and its name', async () => {
    const { pid } = await startMarked({ runId: RUN, start: '3', name: 'gateway-sidecar' })
    const helper = await startMarked({ runId: `${RUN}0` })
    expect(listMarkedProcesses().filter(({ runId }) => runId.startsWith(RUN))).toEqual([
      { pid, runId: RUN, start: '3', name: 'gateway-sidecar' },
      { pid: helper.pid, runId: `${RUN}0`, start: '', name: '' },
    ])
  })
})
