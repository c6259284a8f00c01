import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { hashFolder } from '../lib/hash.js'
import { sleep } from '../lib/wait.js'

/**
 * `lab --watch`: counts again after each save.
 * @import { Sides } from '../lab/comparison.js'
 * @import { Lab } from '../prepare/open-lab.js'
 * @typedef {{ lab: Lab, hasParity: boolean, signal: AbortSignal, say: (line: string) => void }} Counting hasParity: equal work is tried
 * @typedef {Counting & { folder: string, printCounts: (counts: Sides) => Promise<void> }} Watching
 * @typedef {() => Promise<Sides['old']>} CountOld
 */

const POLL_MS = 100
// Swap files, backups and locks, which editors write and remove between two saves.
const EDITOR_FILE = /^[.#]|~$/

/**
 * Counts the new side now and after every save, and prints the errors of saved scripts. A save aborts a running
 * count, whose numbers would be of two versions. It ends only by throwing.
 * @param {Watching} watching
 * @throws the signal's reason; an error of the old side; an error of the new side that is no BenchError; the system's error if the
 *   folder of scripts cannot be read
 */
export async function countAtEachSave({ signal, ...options }) {
  const ending = new AbortController()
  const watching = { ...options, signal: AbortSignal.any([signal, ending.signal]) }
  try {
    const countOld = createOldCounter(watching)
    for (;;) await countThenAwaitSave(countOld, watching)
  } finally {
    // Otherwise the timer of `awaitSave` would keep the process alive.
    ending.abort()
  }
}

/**
 * Creates a function that counts the old side at its first call and returns that count, or its error, at every other: the old side
 * stays as it is.
 * @param {Watching} watching
 * @returns {CountOld} rejects with an OldSideError if the old side does not serve, or cannot be counted
 */
function createOldCounter({ lab, signal, say }) {
  /** @type {ReturnType<CountOld> | null} */
  let counting = null
  const count = async () => {
    await lab.assertServes('old', signal, say)
    return lab.count('old', signal)
  }
  return () => {
    counting ??= count().catch(error => {
      throw new OldSideError(error)
    })
    return counting
  }
}

/** An error of the old side, which no save of the new scripts can fix. */
class OldSideError extends Error {
  /** @param {Error} cause */
  constructor(cause) {
    super(cause.message, { cause })
  }
}

/**
 * Counts the current scripts, prints how long that took, and waits until others are saved.
 * @param {CountOld} countOld
 * @param {Watching} watching
 * @throws as `countAtEachSave`
 */
async function countThenAwaitSave(countOld, watching) {
  const { folder, signal, say } = watching
  const start = performance.now()
  const countedHash = hashSavedScripts(folder)
  const saved = awaitSave(folder, { countedHash, signal })
  const saving = new AbortController()
  saved.then(
    () => saving.abort(),
    () => {},
  )
  const isOther = (/** @type {string | null} */ savedHash) => savedHash !== null && savedHash !== countedHash
  const hasChanged = () => saving.signal.aborted || isOther(hashSavedScripts(folder))
  const isStale = await countUntilSave({ ...watching, countOld, saveSignal: saving.signal, hasChanged })
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
 * Counts the current scripts, and prints the counts, or the error of scripts that do not serve. A save aborts it: then neither is
 * printed, since they would be of two versions.
 * @param {Watching & { countOld: CountOld, saveSignal: AbortSignal, hasChanged: () => boolean }} options saveSignal: aborts at a
 *   save; hasChanged: says whether the scripts are no longer those that are counted
 * @returns {Promise<boolean>} true: the scripts were saved during the count
 * @throws as `countAtEachSave`
 */
async function countUntilSave({ countOld, saveSignal, hasChanged, ...watching }) {
  const { printCounts, signal, say } = watching
  let isStale = false
  try {
    const untilSave = AbortSignal.any([signal, saveSignal])
    // Every process and request of a count listens to the signal.
    setMaxListeners(0, untilSave)
    await countAndCheck({
      ...watching,
      signal: untilSave,
      countOld,
      printCounts: async counts => {
        isStale = hasChanged()
        if (!isStale) await printCounts(counts)
      },
    })
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof OldSideError) throw error.cause
    isStale = hasChanged()
    if (isStale) return true
    if (!(error instanceof BenchError)) throw error
    say(error.message)
  }
  return isStale
}

/**
 * Waits until two readings in a row find the same scripts, which are not the counted ones: an editor may write several
 * files in one save.
 * @param {string} folder of the scripts
 * @param {{ countedHash: string | null, signal: AbortSignal }} options countedHash: of the counted scripts; null: they
 *   could not be read
 * @throws the signal's reason when it aborts; the system's error if the folder cannot be read
 */
async function awaitSave(folder, { countedHash, signal }) {
  let previousHash = countedHash
  for (;;) {
    await sleep(POLL_MS, signal)
    const savedHash = hashSavedScripts(folder)
    if (savedHash !== null && savedHash !== countedHash && savedHash === previousHash) return
    previousHash = savedHash
  }
}

/**
 * Counts the new side and, at the first call, the old side, prints the counts, then runs the equal-work check. They do not run at
 * the same time: the check would take CPU from the sidecars, and the count would make requests of the check time out.
 * @param {Counting & { countOld: CountOld, printCounts: Watching['printCounts'] }} counting
 * @throws {BenchError} if the new side does not serve, or the equal-work check fails; {OldSideError} if the old side does not
 *   serve, or cannot be counted; an error of `printCounts`; the signal's reason when it aborts
 */
async function countAndCheck({ lab, hasParity, countOld, printCounts, signal, say }) {
  await lab.assertServes('new', signal, say)
  const [old, next] = await Promise.all([countOld(), lab.count('new', signal)])
  await printCounts({ old, new: next })
  if (!hasParity) return
  say('running the equal-work check')
  await lab.assertParity(signal).catch(error => {
    if (!(error instanceof BenchError)) throw error
    throw new BenchError(`the count above is of other work: ${error.message}`, { cause: error })
  })
  say('equal work: passed')
}

/**
 * Hashes the scripts of a folder, without files of editors and broken links.
 * @param {string} folder
 * @returns {string | null} null: the folder is missing, or a file was removed before it was read
 * @throws the system's error if a file or folder cannot be read for another reason
 */
function hashSavedScripts(folder) {
  try {
    // `existsSync` leaves out a broken link, which is no script.
    return hashFolder(folder, file => !EDITOR_FILE.test(path.basename(file)) && existsSync(file))
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === 'ENOENT') return null
    throw error
  }
}
