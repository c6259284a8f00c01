import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { hashFolder } from '../lib/hash.js'
import { sleep } from '../lib/wait.js'

/**
 * `lab --watch`: counts again after each save.
 * @import { Sides } from '../lab/comparison.js' @import { Lab } from '../prepare/open-lab.js'
 * @typedef {{ lab: Lab, hasParity: boolean, signal: AbortSignal, say: (line: string) => void }} Counting
 * @typedef {Counting & { folder: string, show: (counts: Sides) => Promise<void> }} Watching
 */

const LOOK_MS = 200
// Swap files, backups and locks, which editors write and remove between two saves.
const OF_EDITOR = /^[.#]|~$/

/**
 * Counts the new side after every save, and reports the errors of the saved scripts. A save during a count ends it: its
 * numbers would be of two scripts. @param {Watching} watching
 */
export async function countSaves({ signal, ...given }) {
  const ending = new AbortController()
  const watching = { ...given, signal: AbortSignal.any([signal, ending.signal]) }
  try {
    await watching.lab.assertServes('old', watching.signal)
    const old = await watching.lab.count('old', watching.signal)
    for (;;) await countSave(old, watching)
  } finally {
    // A timer for the next look keeps the process alive.
    ending.abort()
  }
}

/** Counts the current scripts, and waits until others are saved. @param {Sides['old']} old @param {Watching} watching */
async function countSave(old, { lab, hasParity, folder, show, signal, say }) {
  const start = performance.now()
  const counted = hashSaved(folder)
  const saved = awaitSave(folder, { counted, signal })
  const saving = new AbortController()
  saved.then(
    () => saving.abort(),
    () => {},
  )
  const hasChanged = () => saving.signal.aborted || ![null, counted].includes(hashSaved(folder))
  let isStale = false
  try {
    const untilSave = AbortSignal.any([signal, saving.signal])
    // Every process and request of a count listens to the signal.
    setMaxListeners(0, untilSave)
    const counts = await countTried({ lab, hasParity, signal: untilSave, say })
    isStale = hasChanged()
    if (!isStale) await show({ old, new: counts })
  } catch (error) {
    signal.throwIfAborted()
    isStale = hasChanged()
    if (!isStale) {
      if (!(error instanceof BenchError)) throw error
      say(error.message)
    }
  }
  const seconds = ((performance.now() - start) / 1000).toFixed(1)
  say(
    isStale
      ? `saved during a count, which ended after ${seconds} s: counting again`
      : `${seconds} s; waiting for a save in ${folder}`,
  )
  await saved.catch(error => {
    // The signal's reason says how the program ends; the wait says only that it ended.
    signal.throwIfAborted()
    throw error
  })
}

/**
 * Waits until two looks in a row find the same scripts, which are not those that were counted.
 * @param {string} folder @param {{ counted: string | null, signal: AbortSignal }} options
 */
async function awaitSave(folder, { counted, signal }) {
  let before = counted
  for (;;) {
    await sleep(LOOK_MS, signal)
    const saved = hashSaved(folder)
    if (saved !== null && saved !== counted && saved === before) return
    before = saved
  }
}

/** Counts the new side, with the corpus beside it. @param {Counting} counting */
async function countTried({ lab, hasParity, signal, say }) {
  await lab.assertServes('new', signal)
  const ending = new AbortController()
  const beside = AbortSignal.any([signal, ending.signal])
  setMaxListeners(0, beside)
  const trying = Promise.allSettled(hasParity ? [lab.checkParity(beside)] : [])
  try {
    const counts = await lab.count('new', signal)
    // A count takes a whole CPU, so timeouts of the corpus may be the machine's.
    const [failed] = (await trying).flatMap(tried => (tried.status === 'rejected' ? tried.reason : []))
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

/** @param {string} folder @returns {string | null} null: a file was gone when it was read */
function hashSaved(folder) {
  try {
    // A broken link is no script.
    return hashFolder(folder, file => !OF_EDITOR.test(path.basename(file)) && existsSync(file))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
    throw error
  }
}
