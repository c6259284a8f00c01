import { verifyRun } from '../analysis/verify.js'
import { EXIT } from '../lib/exit-status.js'
import { hashKit } from '../lib/kit.js'
import { findLoad } from '../loads/registry.js'

/**
 * `verify`: every number of a run again.
 * @import { Command } from 'commander'
 * @import { Context } from './program.js'
 */

/**
 * @param {Command} verb
 * @param {Context} context
 */
export function addVerify(verb, { print, end }) {
  verb.argument('<results>', 'a results folder').action(folder => {
    const { lines, agrees } = verifyRun({ folder, findLoad, kitSha256: hashKit() })
    print(lines.join('\n'))
    if (!agrees) end(EXIT.failed)
  })
}
