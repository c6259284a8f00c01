import { execFileSync, spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { waitForCondition } from '../../src/lib/wait.js'
import { hasEnded, readProcFile } from '../../src/node/kernel/proc-files.js'

/** Reads how long threads of a process ran, and waited for a CPU, in seconds as the kernel says it. @param {number} pid */
function readTimes(pid) {
  const tasks = execFileSync('sh', ['-c', `cat /proc/${pid}/task/*/schedstat`], { encoding: 'utf8' }).trim()
  const times = tasks.split('\n').map(line => line.split(' ').map(text => Number(text) / 1e9))
  const sum = (/** @type {number} */ column) => times.reduce((total, row) => total + row[column], 0)
  return { ran: sum(0), waited: sum(1) }
}

/** Waits until a neighbour burns, and has read what started it. @param {number} pid @param {number} cores */
function begun(pid, cores) {
  const isTitled = () => readProcFile(`/proc/${pid}/cmdline`).startsWith(`sidecar-bench neighbour ${cores}`)
  return waitForCondition(isTitled, { what: 'the neighbour to begin', deadlineSeconds: 20 })
}

it.each([0.5, 1.5])('wants %d CPUs, of which it burns what it gets', async cores => {
  const child = spawn(process.execPath, ['src/node/neighbour.js', `${cores}`])
  try {
    const pid = Number(child.pid)
    await begun(pid, cores)
    await delay(200)
    const [beforeMs, before] = [performance.now(), readTimes(pid)]
    await delay(1500)
    const seconds = (performance.now() - beforeMs) / 1000
    const after = readTimes(pid)
    const [ran, waited] = [after.ran - before.ran, after.waited - before.waited].map(time => time / seconds)
    expect(ran + waited).toBeGreaterThan(0.9 * cores)
    expect(ran).toBeLessThan(1.1 * cores)
    expect(ran).toBeGreaterThan(0.05)
  } finally {
    child.kill('SIGKILL')
  }
})

it('ends with what started it, however that ends', async () => {
  const starter = spawn('sh', ['-c', `"${process.execPath}" src/node/neighbour.js 0.1 & echo $!; sleep 60`])
  const pid = await new Promise(resolve => starter.stdout.once('data', text => resolve(Number(text))))
  await begun(pid, 0.1)
  starter.kill('SIGKILL')
  await waitForCondition(() => hasEnded(pid), { what: 'the neighbour to end', deadlineSeconds: 5 })
})
