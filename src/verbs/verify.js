import { verifyRun } from '../analysis/verify.js'
import { findComputed } from '../kinds/computed.js'
import { EXIT } from '../lib/exit-status.js'
import { hashKit } from '../lib/kit.js'
import { findLoad } from '../loads/registry.js'
import { verifyComputed } from './computed.js'

/** `verify`: every number of a run again. @type {import('./program.js').AddVerb} */
export function addVerify(verb, { print, end }) {
  verb.argument('<results>', 'a results folder').action((/** @type {string} */ folder) => {
    const verify = () => verifyRun({ folder, findLoad, kitSha256: hashKit() })
    const computed = findComputed(folder)
    const { lines, agrees } = computed ? verifyComputed(computed, folder) : verify()
    print(lines.join('\n'))
    if (!agrees) end(EXIT.failed)
  })
}
