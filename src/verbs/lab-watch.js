import { watch } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { BenchError } from '../lib/errors.js'
import { hashFolder } from '../lib/hash.js'

/**
 * `lab --watch`: counts again after each save.
 * @import { Sides } from '../lab/comparison.js'
 * @import { Lab } from './open-lab.js'
 */

const SAVED_MS = 50

/**
 * Counts the new side after every save. What is wrong with a save is said, and the next is waited for.
 * @param {{ lab: Lab, hasParity: boolean, folder: string, signal: AbortSignal, say: (line: string) => void,
 *   show: (counts: Sides) => Promise<void> }} given
 */
export async function countSaves({ signal, ...given }) {
  const ending = new AbortController()
  try {
    await countEach({ ...given, signal: AbortSignal.any([signal, ending.signal]) })
  } finally {
    // A watcher that is left open keeps the process.
    ending.abort()
  }
}

/** @param {Parameters<typeof countSaves>[0]} given */
async function countEach({ lab, hasParity, folder, show, signal, say }) {
  const saves = watch(folder, { recursive: true, signal })[Symbol.asyncIterator]()
  const listen = () => {
    const save = saves.next()
    // It may fail, as the program is interrupted, before it is waited for.
    save.catch(() => {})
    return save
  }
  let next = listen()
  const old = await lab.count('old', signal)
  for (;;) {
    const start = performance.now()
    const counted = hashWhole(folder)
    try {
      await show({ old, new: await countTried({ lab, hasParity, signal, say }) })
    } catch (error) {
      signal.throwIfAborted()
      if (!(error instanceof BenchError)) throw error
      say(error.message)
    }
    say(`${((performance.now() - start) / 1000).toFixed(1)} s; waiting for a save in ${folder}`)
    // A save is several events, of which some are before its end.
    for (let found = hashWhole(folder); found === null || found === counted; found = hashWhole(folder)) {
      await next.catch(error => {
        signal.throwIfAborted()
        throw error
      })
      next = listen()
      await delay(SAVED_MS, undefined, { signal })
    }
  }
}

/**
 * Counts the new side, with the corpus beside it.
 * @param {{ lab: Lab, hasParity: boolean, signal: AbortSignal, say: (line: string) => void }} given
 */
async function countTried({ lab, hasParity, signal, say }) {
  const ending = new AbortController()
  const beside = AbortSignal.any([signal, ending.signal])
  const trying = hasParity
    ? lab.checkParity(beside).then(
        () => null,
        error => error,
      )
    : null
  try {
    const counts = await lab.count('new', signal)
    // A count takes a whole CPU, so the corpus may have found timeouts that are the machine's.
    const failed = await trying
    if (failed) {
      if (!(failed instanceof BenchError)) throw failed
      await lab.checkParity(signal)
      say(`the corpus failed beside the count, and passed alone: ${failed.message}`)
    }
    return counts
  } finally {
    ending.abort()
    await trying
  }
}

/**
 * Editors write files beside that are gone as they are read, and links that lead nowhere; their end is an event, too.
 * @param {string} folder
 * @returns {string | null} null: a file was gone as it was read
 */
function hashWhole(folder) {
  try {
    return hashFolder(folder)
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
    throw error
  }
}
