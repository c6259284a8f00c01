import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { BenchError } from '../../src/lib/errors.js'
import { countSaves } from '../../src/verbs/lab-watch.js'
import { createProgram } from '../../src/verbs/program.js'

const folder = mkdtempSync(path.join(os.tmpdir(), 'watch-test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

it('a file of an editor that is gone as it is read does not end --watch, and what is saved then is counted', async () => {
  const stop = new AbortController()
  const lock = path.join(folder, '.#main.js')
  writeFileSync(path.join(folder, 'main.js'), '1')
  symlinkSync('nowhere', lock)
  const lab = /** @type {any} */ ({ count: async () => [] })
  let counts = 0
  let waits = 0
  const watching = countSaves({
    ...{ lab, folder, hasParity: false, signal: stop.signal },
    show: async () => {
      counts++
    },
    say: () => {
      if (++waits === 2) stop.abort()
      // After the watch of the folder began.
      else setTimeout(() => [writeFileSync(path.join(folder, 'main.js'), '2'), rmSync(lock)], 100)
    },
  })
  await expect(watching).rejects.toThrow('aborted')
  expect(counts).toBe(2)
})

it('nothing of --watch keeps the process where the old side cannot be counted', async () => {
  const count = () => Promise.reject(new BenchError('valgrind ended'))
  const watching = countSaves({
    ...{ lab: /** @type {any} */ ({ count }), folder, hasParity: false, signal: new AbortController().signal },
    ...{ show: async () => {}, say: () => {} },
  })
  await expect(watching).rejects.toThrow('valgrind ended')
  await expect.poll(() => process.getActiveResourcesInfo()).not.toContain('FSEventWrap')
})

/** Tries the corpus as often as there are answers to it, on one save. @param {boolean[]} answers whether it is passed */
async function tryOnce(answers) {
  const stop = new AbortController()
  /** @type {string[]} */
  const said = []
  let counts = 0
  const lab = /** @type {any} */ ({
    count: async () => [],
    checkParity: async () => {
      if (!answers.shift()) throw new BenchError('parity-answers: 45 of 46')
    },
  })
  const watching = countSaves({
    ...{ lab, folder, hasParity: true, signal: stop.signal },
    show: async () => {
      counts++
    },
    say: line => {
      said.push(line)
      if (line.includes('waiting for a save')) stop.abort()
    },
  })
  await expect(watching).rejects.toThrow('aborted')
  return { counts, said, untried: answers.length }
}

it('what the corpus finds beside a count is found alone, too, or it was the machine', async () => {
  expect(await tryOnce([true])).toMatchObject({ counts: 1, untried: 0 })
  const second = await tryOnce([false, true])
  expect(second).toMatchObject({ counts: 1, untried: 0 })
  expect(second.said[0]).toBe('the corpus failed beside the count, and passed alone: parity-answers: 45 of 46')
  const { counts, said } = await tryOnce([false, false])
  expect(counts).toBe(0)
  expect(said[0]).toBe('parity-answers: 45 of 46')
})

it.each([
  ['--watch', '--watch'],
  ['--requests', '--requests', '500'],
  ['--threshold', '--threshold', 'new/old instructions <= 1.01'],
])('--profile is refused beside %s', async (name, ...argv) => {
  const program = await createProgram(/** @type {any} */ ({ print: () => {}, say: () => {} }))
  await expect(program.parseAsync(['lab', '--profile', ...argv], { from: 'user' })).rejects.toThrow(
    `--profile samples a load: ${name} belongs to a count, leave one of them out`,
  )
})
