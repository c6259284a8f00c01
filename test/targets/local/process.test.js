import { closeSync, existsSync, readFileSync, statSync, writeSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { waitForCondition } from '../../../src/lib/wait.js'
import { createProcess } from '../../../src/model/processes.js'
import { cutLog, openLog } from '../../../src/targets/local/log-file.js'
import { startProcess } from '../../../src/targets/local/process.js'
import { listOpenFiles } from '../../fakes/open-files.js'
import { makeFolder } from '../../fakes/scratch.js'

const folder = makeFolder('process-log')

it('cuts a log that has grown too large down to its end, while its process goes on, and says so', async () => {
  const file = path.join(folder, 'a.log')
  const log = openLog(file)
  writeSync(log, 'first\n')
  expect(await cutLog(file, 6)).toBe(false)
  expect(readFileSync(file, 'utf8')).toBe('first\n')
  writeSync(log, 'second\n')
  writeSync(log, 'x'.repeat(100_000))
  expect(await cutLog(file, 1000)).toBe(true)
  writeSync(log, 'third\n')
  closeSync(log)
  const text = readFileSync(file, 'utf8')
  expect(text).toMatch(/^\[sidecar-bench cut this log at 0\.1 MiB; its end:\]\nx+third\n$/)
  expect(text.length).toBeLessThan(70_000)
})

it('has nothing to do if the log is gone', async () => expect(await cutLog(path.join(folder, 'none'))).toBe(false))

/** A tree whose one cgroup counts nothing and cannot be removed. @param {number[]} [pids] of its processes */
function createTree(pids = []) {
  const group = {
    joinFiles: [],
    pids: () => pids,
    remove: async () => {},
    close: () => {},
    read: () => ({ oomKills: 0 }),
  }
  return /** @type {any} */ ({ create: async () => group })
}

it('closes the log of a process that cannot be spawned', async () => {
  const fields = { program: '/bin/sleep', argv: ['\0'], folder, listens: [] }
  const spec = createProcess({ service: 'unspawned', role: 'application', ...fields })
  await expect(startProcess({ spec, folder, tree: createTree(), start: 1, runId: 'test' })).rejects.toThrow(
    'null bytes',
  )
  expect(listOpenFiles(folder)).toEqual([])
})

it('ends with its stop, if its cgroup is gone from its place', async () => {
  const fields = { program: '/bin/sleep', argv: ['60'], folder, listens: [] }
  const spec = createProcess({ service: 'server', role: 'application', ...fields })
  const process = await startProcess({ spec, folder, tree: createTree(), start: 1, runId: 'test' })
  await process.stop()
  expect(process.ending()).toBe('signal SIGKILL')
})

it.for([
  ['hangs', 'sleep 60', /^server-application did not start: it logged an error, and then hung; .*\n {2}refused: why$/],
  ['works', 'while :; do :; done', /^timed out/],
])('says at once that a process did not start if it has logged why and uses no CPU: one that %s', async ([
  name,
  next,
  reason,
]) => {
  const processFolder = path.join(folder, `${name}`)
  /** @type {number[]} */
  const pids = []
  const fields = { program: '/bin/sh', argv: ['-c', `echo $$ >pid; echo refused: why; ${next}`], folder: processFolder }
  const listens = [{ address: '127.99.8.1', port: 18099 }]
  const spec = createProcess({ service: 'server', role: 'application', ...fields, listens, startErrorText: 'refused:' })
  const process = await startProcess({ spec, folder: processFolder, tree: createTree(pids), start: 1, runId: 'test' })
  const file = path.join(processFolder, 'pid')
  await waitForCondition(() => existsSync(file), { what: 'its pid', deadlineSeconds: 5 })
  pids.push(Number(readFileSync(file, 'utf8')))
  try {
    await expect(process.waitUntilReady(new AbortController().signal, { deadlineSeconds: 3 })).rejects.toThrow(reason)
  } finally {
    await process.stop()
  }
})

it('ends a generator that floods its log, which can no longer be split, and keeps the end of the log', async () => {
  const fields = { program: '/usr/bin/yes', argv: ['flood'], folder, listens: [] }
  const spec = createProcess({ service: 'k6', role: 'generator', ...fields })
  const generator = await startProcess({ spec, folder, tree: createTree(), start: 1, runId: 'test' })
  await waitForCondition(generator.enforceLogLimit, {
    what: 'the log to be large',
    deadlineSeconds: 20,
    intervalMs: 20,
  })
  expect(await generator.exited).toBe('signal SIGKILL')
  await expect(generator.readLog()).rejects.toThrow(
    /^the log of k6-generator is over 32\.0 MiB, and is not read: it was ended, for its log grew over 32\.0 MiB; the end/,
  )
  await generator.stop()
  expect(statSync(path.join(folder, 'k6-generator.log')).size).toBeLessThan(70_000)
})
