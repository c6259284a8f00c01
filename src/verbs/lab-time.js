import path from 'node:path'
import { chooseOldSide, isKit, locateOldSide } from '../lab/sides.js'
import { withTemporaryFolder } from '../lib/temporary-folder.js'
import { PARITY_NAMES } from '../parity/verdict/checks.js'
import { renderRequestOptions } from '../prepare/options.js'
import { runBenchCommand } from './bench.js'

/**
 * `lab --time`: measures the CPU time of both sides, interleaved.
 * @import { RequestOptions } from '../model/requests.js'
 * @import { Side } from '../lab/sides.js'
 * @import { Context } from './program.js'
 */
/**
 * @typedef {object} Timed
 * @property {Side} side the new one
 * @property {string} [against]
 * @property {string[]} link of which the first is measured
 * @property {number} [payload] bytes
 * @property {RequestOptions} [requestAxes]
 * @property {string} [features]
 * @property {string[]} pipy programs of Pipy
 * @property {boolean} parity false: the two sides need not do equal work
 */

/**
 * Counts both sides, then measures them with `bench`.
 * @param {Timed & { count: (into: string) => Promise<unknown> }} timed count: writes the old scripts, if they are of git, to `into`
 * @param {Context} context
 */
export async function timeSides({ side, against: named, pipy, count, parity, ...load }, context) {
  await withTemporaryFolder('sidecar-bench-lab', async folder => {
    const against = chooseOldSide(named ?? null, side.scripts)
    const into = path.join(folder, against.replace(/[^\w.-]+/g, '-'))
    await count(into)
    // A verdict compares the first plane with the second: the new side comes first.
    const old = side.pipeline !== null && named === undefined ? [] : [locateOldSide({ against, into })]
    const sides = pipy.length > 0 ? pipy : [side.scripts, ...old]
    const planes = sides.map(scripts => (isKit(scripts) ? 'pipy' : `pipy=${scripts}`))
    const words = listWords({ planes, ...load })
    // Scripts that were counted without the equal-work check are measured without it, too.
    const relaxes = parity ? [] : PARITY_NAMES.map(gate => ({ gate, why: '--no-parity' }))
    await runBenchCommand(words, context, { relaxes })
  })
}

/**
 * Lists the words of the command line of `bench`.
 * @param {Pick<Timed, 'link' | 'payload' | 'requestAxes' | 'features'> & { planes: string[] }} timed
 */
export function listWords({ planes, link, payload, requestAxes, features }) {
  const words = ['cost', '--planes', planes.join(), '--link', link[0]]
  if (payload !== undefined) words.push('--payload', `${payload}B`)
  if (requestAxes !== undefined) words.push(...renderRequestOptions(requestAxes))
  if (features !== undefined) words.push('--features', features)
  return words
}
