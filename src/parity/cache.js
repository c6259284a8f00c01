import { randomBytes } from 'node:crypto'
import {
  constants,
  fstatSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { z } from 'zod'
import { callSafely } from '../lib/call-safely.js'
import { hashText } from '../lib/hash.js'
import { withOpenFile } from '../lib/with-open-file.js'
import { PARITY_NAMES } from './verdict/checks.js'
import { isWrong } from './verdict/rows.js'

/**
 * Equal-work checks that passed on this machine, each in a file that is named by the SHA-256 of all that it depends on. A
 * file is used only if no other user could have written it: a check that is skipped wrongly would hide unequal work.
 */

/** The most files that are kept; the oldest are removed. */
const KEPT_MOST = 200
const BYTES_MOST = 1024 * 1024
// The mode bits by which group or others may write.
const OTHERS_WRITE = 0o022

const row = z.strictObject({
  name: z.string(),
  mode: z.string().optional(),
  found: z.string(),
  expected: z.string().nullable(),
  differences: z.array(z.string()),
  lacks: z.array(z.string()).optional(),
})
const entry = z.strictObject({ key: z.string(), triedAt: z.iso.datetime(), rows: z.array(row) })

/**
 * @typedef {import('./probe-plane.js').CheckRow} CheckRow
 * @typedef {object} Passed
 * @property {string} triedAt ISO 8601
 * @property {CheckRow[]} rows as the check made them, without the arm that they are for
 * @typedef {ReturnType<typeof openParityCache>} ParityCache
 */

/**
 * Says whether a check passed: in the rows of PARITY_NAMES nothing differs, not even what the plane declares to lack. Other
 * rows do not count.
 * @param {CheckRow[]} rows
 * @returns {boolean} false also: there are no rows, so nothing was tried; true also: none of them is in PARITY_NAMES
 */
function hasPassed(rows) {
  if (rows.length === 0) return false
  const countedRows = rows.filter(({ name }) => PARITY_NAMES.includes(name))
  return countedRows.every(row => row.differences.length === 0 && !row.lacks?.length && !isWrong(row))
}

/**
 * Opens the cache of passed checks. Its folder is created when the first check is kept.
 * @param {{ folder: string, isRechecked?: boolean }} options isRechecked: `find` gives null, so that each check is made again;
 *   false by default
 * @returns find: finds a check that passed; keep: stores one
 */
export function openParityCache({ folder, isRechecked = false }) {
  const locateEntry = (/** @type {string} */ key) => path.join(folder, `${key}.json`)
  return {
    /**
     * Finds a check that passed.
     * @param {object} dependencies all that the result of the check depends on
     * @returns {Passed | null} null: none is known, another user could have written it, its file is damaged, or all are made
     *   again (`isRechecked`)
     */
    find(dependencies) {
      if (isRechecked || !isTrustedFolder(folder)) return null
      const key = hashDependencies(dependencies)
      return callSafely(() => readEntry(locateEntry(key), key), null)
    },
    /**
     * Stores a check, if it passed and only this user may write in the folder, and removes the oldest files beyond KEPT_MOST. It
     * does not throw if the check cannot be stored: a run needs no cache.
     * @param {object} dependencies all that the result of the check depends on
     * @param {CheckRow[]} rows
     */
    keep(dependencies, rows) {
      if (!hasPassed(rows)) return
      // The disk may be full, or read-only.
      callSafely(() => {
        mkdirSync(folder, { recursive: true, mode: 0o700 })
        if (!isTrustedFolder(folder)) return
        const key = hashDependencies(dependencies)
        const text = JSON.stringify({ key, triedAt: new Date().toISOString(), rows })
        const temporary = `${locateEntry(key)}.${randomBytes(6).toString('hex')}`
        writeFileSync(temporary, `${hashText(text)}\n${text}`, { mode: 0o600, flag: 'wx' })
        renameSync(temporary, locateEntry(key))
        removeOldestFiles(folder)
      }, null)
    },
  }
}

/**
 * Hashes the dependencies of a check, with their properties in the order that they have.
 * @param {object} dependencies
 * @returns {string} SHA-256
 */
function hashDependencies(dependencies) {
  return hashText(JSON.stringify(dependencies))
}

/**
 * Reads an entry of the cache.
 * @param {string} file
 * @param {string} key the hash of the dependencies
 * @returns {Passed | null} null: it is no file, another user could have written it, it is larger than BYTES_MOST, its hash or key
 *   differs, or its check did not pass
 * @throws {Error} if there is no such file, it is a link, or it cannot be read; SyntaxError or ZodError if it is not the JSON of an
 *   entry
 */
function readEntry(file, key) {
  return withOpenFile(file, constants.O_RDONLY | constants.O_NOFOLLOW, descriptor => {
    const stat = fstatSync(descriptor)
    if (!stat.isFile() || stat.size > BYTES_MOST || !isTrustedStat(stat)) return null
    const [sha256, ...lines] = readFileSync(descriptor, 'utf8').split('\n')
    const text = lines.join('\n')
    if (sha256 !== hashText(text)) return null
    const { triedAt, ...read } = entry.parse(JSON.parse(text))
    const rows = /** @type {CheckRow[]} */ (read.rows)
    return read.key === key && hasPassed(rows) ? { triedAt, rows } : null
  })
}

/**
 * Says whether a path is a folder that belongs to this user, and to which no other user can write.
 * @param {string} folder
 * @returns {boolean} false also: it is a link, or there is none
 */
function isTrustedFolder(folder) {
  const stat = callSafely(() => lstatSync(folder), null)
  return stat?.isDirectory() === true && isTrustedStat(stat)
}

/**
 * Says whether a file or folder belongs to this user, and no other user can write to it.
 * @param {{ uid: number, mode: number }} stat
 * @returns {boolean} false also: this system has no user ids
 */
function isTrustedStat({ uid, mode }) {
  return uid === process.geteuid?.() && (mode & OTHERS_WRITE) === 0
}

/**
 * Removes the oldest files beyond KEPT_MOST.
 * @param {string} folder
 * @throws {Error} if the folder or a file cannot be read, or a file cannot be removed
 */
function removeOldestFiles(folder) {
  const files = readdirSync(folder).map(name => path.join(folder, name))
  const byAge = files.map(file => ({ file, ms: lstatSync(file).mtimeMs })).sort((a, b) => b.ms - a.ms)
  for (const { file } of byAge.slice(KEPT_MOST)) rmSync(file, { force: true })
}
