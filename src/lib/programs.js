import { accessSync, constants, statSync } from 'node:fs'

/** Whether a path names a file that may be run. @param {string} file */
export function isProgram(file) {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
