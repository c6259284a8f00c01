import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { atExit } from './at-exit.js'

/**
 * Calls a function with a new folder, which is removed when it ends, throws, or this process exits.
 * @template T @param {string} name of the folder, before random letters @param {(folder: string) => T | Promise<T>} use
 */
export async function withTemporaryFolder(name, use) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `${name}-`))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const takeBack = atExit(remove)
  try {
    return await use(folder)
  } finally {
    takeBack()
    remove()
  }
}
