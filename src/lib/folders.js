import fs from 'node:fs'
import path from 'node:path'

/**
 * Makes a folder and those above it, one by one: below /proc, Node 20 hangs on `recursive`. A path that exists stays, also a file.
 * @param {string} folder
 * @throws the system's error if one cannot be made, as below a file or at a dead link
 */
export function makeFolder(folder) {
  for (const at of listMissingFolders(folder)) {
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
