import {
  appendFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { callSafely } from '../lib/call-safely.js'
import { BenchError } from '../lib/errors.js'
import { parseJson } from '../lib/json.js'
import { readPlace, readProcessStartTicks } from '../lib/process-start.js'
import { renderCommand } from '../lib/render-command.js'
import { renderNounCount } from '../lib/units.js'
import { listProcEntries, readProcFile } from './kernel/proc-files.js'

/**
 * The ledgers of the runs of this machine: each is a folder that says which process owns the run, and what the run holds
 * beside its processes. An entry is on disk before the thing is made, so `cleanup` finds what a killed run left.
 */

/** @import { Holding, HoldingKind as Kind, Ledger, LedgerEntry, Owner } from '../model/types.ts' */

// A half-made ledger of this age is left by a killed process: making one takes milliseconds.
const HALF_MADE_MS = 60_000

/**
 * Locates the folder of this user's ledgers. It is not below TMPDIR, which a run and its cleanup may see differently.
 * @returns {string}
 */
function locateLedgers() {
  return `/tmp/sidecar-bench-${process.getuid?.()}`
}

/**
 * Makes the folder of a ledger, with the document that says which process owns it. It gets its name once it is complete.
 * @param {string} root the folder of ledgers, which is made if there is none
 * @param {string} runId
 * @returns {string} its path
 * @throws {BenchError} if it cannot be written, or the folder of ledgers is of another user or open to others
 */
function makeLedgerFolder(root, runId) {
  const folder = path.join(root, runId)
  const halfMade = path.join(root, `.${runId}`)
  try {
    if (lstatSync(root, { throwIfNoEntry: false })) assertTrustedFolder(root)
    // This makes the folder of ledgers again, too: the last other run may just have removed it with its own.
    mkdirSync(halfMade, { recursive: true, mode: 0o700 })
    assertTrustedFolder(root)
    const { pid } = process
    /** @type {Owner} */
    const owner = { pid, startTicks: readProcessStartTicks(pid), ...readPlace(), command: process.argv.slice(2) }
    writeFileSync(path.join(halfMade, 'owner.json'), JSON.stringify(owner))
    renameSync(halfMade, folder)
    return folder
  } catch (error) {
    if (error instanceof BenchError) throw error
    throw new BenchError(
      `cannot record in ${root} what this run holds: ${/** @type {Error} */ (error).message}; a run that is killed could not be cleaned up: make /tmp a folder that can be written (mount -t tmpfs tmpfs /tmp)`,
      { cause: error },
    )
  }
}

/**
 * Creates the ledger of a run that this process owns, and the folder of ledgers if there is none.
 * @param {{ runId: string, root?: string }} options root: the folder of ledgers
 * @returns {Ledger}
 * @throws {BenchError} as `makeLedgerFolder`
 */
export function openLedger({ runId, root = locateLedgers() }) {
  const folder = makeLedgerFolder(root, runId)
  const held = new Set()
  const write = (/** @type {string} */ sign, /** @type {Kind} */ kind, /** @type {string} */ name) =>
    appendFileSync(path.join(folder, 'holdings.jsonl'), `${JSON.stringify([sign, kind, name])}\n`)

  return {
    runId,
    folder,
    /**
     * Writes an entry; call it before the thing is made.
     * @param {Kind} kind
     * @param {string} name of the thing
     * @throws the system's error if it cannot be written
     */
    hold(kind, name) {
      write('+', kind, name)
      held.add(`${kind} ${name}`)
    },
    /**
     * Strikes an entry; call it when the thing is gone. A failure to write is ignored.
     * @param {Kind} kind
     * @param {string} name of the thing
     */
    release(kind, name) {
      held.delete(`${kind} ${name}`)
      // An entry of a thing that is gone does no harm, and a teardown must continue, even on a full disk.
      callSafely(() => write('-', kind, name), null)
    },
    others: () => readLedgers(root).filter(entry => entry.runId !== runId),
    /**
     * Holds a thing that one run at a time may hold. If two runs claim it at once, both may be refused. A run that may still
     * live holds its things.
     * @param {Kind} kind
     * @param {string} name of the thing
     * @returns {string | null} the run that may still use it, for an error; null: it is held now
     * @throws the system's error if the entry cannot be written
     */
    claim(kind, name) {
      this.hold(kind, name)
      const holder = this.others().find(
        ({ state, holdings }) => state !== 'gone' && holdings.some(thing => thing.kind === kind && thing.name === name),
      )
      if (!holder) return null
      this.release(kind, name)
      return `the run ${holder.runId}${holder.owner ? ` (process ${holder.owner.pid})` : ''}`
    },
    /**
     * Removes the ledger, unless it has entries.
     * @param {{ retain?: boolean }} [options] retain: keeps all for `cleanup --retained`
     * @throws the system's error if it cannot be removed, or marked as retained
     */
    close({ retain = false } = {}) {
      if (retain) writeFileSync(path.join(folder, 'retained'), '')
      else if (held.size === 0) removeLedger(folder)
    },
  }
}

/**
 * Reads the ledgers of this user. Half-made ledgers are left out, and so are truncated lines of holdings.
 * @param {string} [root] the folder of ledgers
 * @returns {LedgerEntry[]} owner: null if it cannot be read; []: there are none, or other users could have written them
 */
export function readLedgers(root = locateLedgers()) {
  return listTrustedEntries(root)
    .filter(name => !name.startsWith('.'))
    .map(runId => {
      const folder = path.join(root, runId)
      const ownerDocument = parseJson(readProcFile(path.join(folder, 'owner.json')))
      const isWhole =
        Number.isInteger(ownerDocument?.pid) &&
        Number.isInteger(ownerDocument.startTicks) &&
        Array.isArray(ownerDocument.command)
      /** @type {Owner | null} */
      const owner = isWhole ? ownerDocument : null
      const isRetained = existsSync(path.join(folder, 'retained'))
      return { runId, folder, owner, state: readOwnerState(owner), isRetained, holdings: readHoldings(folder) }
    })
}

/**
 * Removes a ledger with the keys in it, and the folder of ledgers after the last one. It does nothing if there is no such ledger.
 * @param {string} folder of the ledger
 * @throws the system's error if it cannot be removed
 */
export function removeLedger(folder) {
  rmSync(folder, { recursive: true, force: true })
  // This fails while another run has its ledger there.
  callSafely(() => rmdirSync(path.dirname(folder)), null)
}

/**
 * Removes the ledgers that were begun more than HALF_MADE_MS ago and not completed: their process was killed, and they hold nothing
 * yet. In a folder that is not trusted none is removed.
 * @param {string} [root] the folder of ledgers
 * @throws as `removeLedger`
 */
export function removeHalfMadeLedgers(root = locateLedgers()) {
  for (const name of listTrustedEntries(root).filter(name => name.startsWith('.'))) {
    const folder = path.join(root, name)
    const stats = statSync(folder, { throwIfNoEntry: false })
    if (stats && Date.now() - stats.mtimeMs > HALF_MADE_MS) removeLedger(folder)
  }
}

/**
 * Reads whether an owner lives. It is gone if it has ended, the machine was rebooted, or its pid was reused.
 * @param {Owner | null} owner null: it could not be read
 * @returns {LedgerEntry['state']} unknown: the owner could not be read, or its pid is of another pid namespace
 */
function readOwnerState(owner) {
  if (owner === null) return 'unknown'
  const thisPlace = readPlace()
  if (owner.bootId !== thisPlace.bootId) return 'gone'
  if (owner.pidNamespace !== thisPlace.pidNamespace) return 'unknown'
  return readProcessStartTicks(owner.pid) === owner.startTicks ? 'alive' : 'gone'
}

/**
 * Reads the entries of a ledger that were not struck.
 * @param {string} folder
 * @returns {Holding[]} []: there are none, or they cannot be read
 */
function readHoldings(folder) {
  /** @type {Map<string, Holding>} */
  const held = new Map()
  for (const line of readProcFile(path.join(folder, 'holdings.jsonl')).split('\n')) {
    const parts = parseJson(line)
    // A cut line: the process was killed while it wrote, so before it made the thing.
    if (!Array.isArray(parts) || parts.length !== 3 || parts.some(part => typeof part !== 'string')) continue
    const [sign, kind, name] = parts
    if (sign === '+') held.set(`${kind} ${name}`, { kind, name })
    if (sign === '-') held.delete(`${kind} ${name}`)
  }
  return [...held.values()]
}

/**
 * Asserts that only this user may open a folder, if it exists: every user may write in /tmp, so a folder of this name may belong
 * to another user.
 * @param {string} root
 * @throws {BenchError} if it belongs to another user, is open to others, or is no folder
 */
function assertTrustedFolder(root) {
  const distrust = findDistrust(root)
  if (distrust !== null) throw new BenchError(distrust)
}

/**
 * Finds the reason for which the folder of ledgers is not trusted, with its content and advice.
 * @param {string} [root]
 * @returns {string | null} null: it is trusted, or there is none
 */
export function findDistrust(root = locateLedgers()) {
  const stats = lstatSync(root, { throwIfNoEntry: false })
  if (stats === undefined || isPrivateFolder(root)) return null
  if (!stats.isDirectory()) return `${root} is no folder, and ledgers of runs would be kept there: remove it`
  const runs = listProcEntries(root).map(
    name => `${name} (${renderNounCount(listFilesBelow(path.join(root, name)).length, 'file')})`,
  )
  const content = runs.length > 0 ? `holds ${runs.join(', ')}, with private keys` : 'shows no runs'
  if (stats.uid !== process.getuid?.())
    return `${root} belongs to the user ${stats.uid}, so it is not trusted; it ${content}: have that user, or root, remove it`
  const mode = (stats.mode & 0o777).toString(8)
  const advice = `if nobody else has written in it, chmod 700 ${root}, and then ${renderCommand('cleanup')}`
  return `${root} has the mode ${mode}, so other users can read it, and it is not trusted; it ${content}: ${advice}`
}

/**
 * Lists the files below a folder.
 * @param {string} folder
 * @returns {import('node:fs').Dirent[]} []: none, or it cannot be read
 */
function listFilesBelow(folder) {
  const entries = callSafely(() => readdirSync(folder, { recursive: true, withFileTypes: true }), [])
  return entries.filter(entry => entry.isFile())
}

/**
 * Says whether a path is a folder (no link) of this user that no other user can open.
 * @param {string} file
 * @returns {boolean} false also: it does not exist
 */
function isPrivateFolder(file) {
  const stats = lstatSync(file, { throwIfNoEntry: false })
  return stats?.isDirectory() === true && stats.uid === process.getuid?.() && (stats.mode & 0o077) === 0
}

/**
 * Lists the entries of the folder of ledgers.
 * @param {string} root
 * @returns {string[]} []: none, or the folder is not trusted
 */
function listTrustedEntries(root) {
  return isPrivateFolder(root) ? listProcEntries(root) : []
}
