import { readFileSync } from 'node:fs'
import path from 'node:path'
import { ROOT } from '../../lib/paths.js'

const ENTRY = 'src/node/agent/main.js'
const IMPORT = /^(?:import|export)[^'"]*?from '([^']+)'|^import '([^']+)'/gm

/**
 * The kit's own code that the agent needs, by its path in the kit: the entry and all that it imports.
 * @returns {Record<string, string>}
 * @throws when it would need a package: there is none in a pod
 */
export function collectAgentCode() {
  /** @type {Record<string, string>} */
  const files = { 'package.json': '{ "type": "module" }\n' }
  const add = (/** @type {string} */ file) => {
    if (files[file] !== undefined) return
    files[file] = readFileSync(path.join(ROOT, file), 'utf8')
    for (const [, from, bare] of files[file].matchAll(IMPORT)) {
      const name = from ?? bare
      if (name.startsWith('.')) add(path.posix.join(path.posix.dirname(file), name))
      else if (!name.startsWith('node:')) throw new Error(`${file} imports ${name}, which is not in a pod`)
    }
  }
  add(ENTRY)
  return files
}
