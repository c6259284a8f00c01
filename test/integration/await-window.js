import path from 'node:path'
import { waitForCondition } from '../../src/lib/wait.js'
import { listProcEntries, readProcFile } from '../../src/node/kernel/proc-files.js'

/**
 * Waits until the generator of a run, k6, has said when the window of its first trial is.
 * @param {string} out of the run @returns {Promise<number>} epoch milliseconds of its start
 */
export async function awaitWindowStart(out) {
  const raw = path.join(out, 'raw')
  const find = () =>
    listProcEntries(raw).flatMap(name => {
      const log = /^r1-/.test(name) ? readProcFile(path.join(raw, name, 'k6-generator.log')) : ''
      const [, start] = /window (\d+)/.exec(log) ?? []
      return start ? [Number(start)] : []
    })
  await waitForCondition(() => find().length > 0, { what: `a window in ${out}`, deadlineSeconds: 90 })
  return find()[0]
}
