import fs from 'node:fs'
import path from 'node:path'

/**
 * Makes a folder and those above it, one by one: below /proc, Node 20 hangs on `recursive`. One that exists stays.
 * @param {string} folder
 * @throws {Error} if a file is in the way; the system's error if one cannot be made, as at a dead link
 */
export function makeFolder(folder) {
  const missingFolders = listMissingFolders(folder)
  const existing = missingFolders.length > 0 ? path.dirname(missingFolders[0]) : folder
  if (!fs.statSync(existing).isDirectory()) throw new Error(`${existing} is a file: name another folder, or remove it`)
  for (const at of missingFolders) {
    try {
      fs.mkdirSync(at)
    } catch (error) {
      // Another process may have made it meanwhile.
      if (!fs.statSync(at, { throwIfNoEntry: false })?.isDirectory()) throw error
    }
  }
}

/**
 * Lists the folders that must be made for a folder to exist, the uppermost first.
 * @param {string} folder
 * @returns {string[]} absolute paths; []: it exists, or a file has its path
 */
export function listMissingFolders(folder) {
  const missing = []
  for (let at = path.resolve(folder); !fs.existsSync(at); at = path.dirname(at)) missing.unshift(at)
  return missing
}
