import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'

/**
 * Reads all files below a folder as UTF-8, without links.
 * @param {string} folder
 * @returns {Record<string, string>} text by path below it, sorted; {}: there are none
 * @throws the system's error if the folder or a file cannot be read
 */
export function readTextFiles(folder) {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => {
        const file = path.join(entry.parentPath, entry.name)
        return [path.relative(folder, file).split(path.sep).join('/'), readFileSync(file, 'utf8')]
      })
      .sort(),
  )
}
