import { closeSync, openSync } from 'node:fs'

/**
 * Opens a file, and closes it after its use.
 * @template T
 * @param {string} file
 * @param {string | number} flags as of fs.openSync
 * @param {(descriptor: number) => T} use
 * @returns {T} what `use` returns
 * @throws the system's error if the file cannot be opened; the error of `use`
 */
export function withOpenFile(file, flags, use) {
  const descriptor = openSync(file, flags)
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}
