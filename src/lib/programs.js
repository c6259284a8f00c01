import { statSync } from 'node:fs'

/** Says whether a path names a file that may be run. @param {string} file */
export function isProgram(file) {
  const found = statSync(file, { throwIfNoEntry: false })
  return found?.isFile() === true && (found.mode & 0o111) !== 0
}
