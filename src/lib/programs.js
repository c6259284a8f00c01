import { accessSync, constants, statSync } from 'node:fs'
import { safely } from './safely.js'

/** Says whether a path names a file that this user may run. @param {string} file */
export function isProgram(file) {
  return safely(() => {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  }, false)
}
