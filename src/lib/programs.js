import { accessSync, constants, statSync } from 'node:fs'
import { callSafely } from './call-safely.js'

/**
 * Says whether a path names a file that this user may run.
 * @param {string} file
 * @returns {boolean} false also: it is a folder, or does not exist
 */
export function isProgram(file) {
  return callSafely(() => {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  }, false)
}

/**
 * Finds why a program failed: the first line on its stderr, else how it ended. A program that hangs, or that a signal ends, logs nothing.
 * @param {{ stderr?: string, shortMessage?: string }} result of execa
 * @returns {string | undefined}
 */
export function findFailureReason({ stderr, shortMessage }) {
  return stderr?.split('\n')[0] || shortMessage
}
