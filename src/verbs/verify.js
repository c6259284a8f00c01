import { verifyRun } from '../analysis/verify.js'
import { EXIT } from '../lib/exit-status.js'
import { hashKit } from '../lib/kit.js'
import { findLoad } from '../loads/registry.js'
import { isBalance } from '../records/balance.js'
import { verifyBalance } from './balance.js'

/** `verify`: every number of a run again. @type {import('./program.js').AddVerb} */
export function addVerify(verb, { print, end }) {
  verb.argument('<results>', 'a results folder').action((/** @type {string} */ folder) => {
    const verify = () => verifyRun({ folder, findLoad, kitSha256: hashKit() })
    const { lines, agrees } = isBalance(folder) ? verifyBalance(folder) : verify()
    print(lines.join('\n'))
    if (!agrees) end(EXIT.failed)
  })
}
