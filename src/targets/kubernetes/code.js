import path from 'node:path'
import { ROOT } from '../../lib/paths.js'
import { readTextFiles } from '../../lib/text-files.js'

// node/ and parity/beside import nothing else (test/architecture.test.js).
const FOLDERS = ['src/node', 'src/parity/beside', 'src/lib']

/** The kit's own code that runs in pods, by its path in the kit. @returns {Record<string, string>} */
export function readAgentCode() {
  const files = FOLDERS.flatMap(folder =>
    Object.entries(readTextFiles(path.join(ROOT, folder))).map(([name, text]) => [`${folder}/${name}`, text]),
  )
  return { 'package.json': '{ "type": "module" }\n', ...Object.fromEntries(files) }
}
