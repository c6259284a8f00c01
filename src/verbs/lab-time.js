import path from 'node:path'
import { chooseOldSide, isKitFolder, locateOldSide } from '../lab/sides.js'
import { withTemporaryFolder } from '../lib/temporary-folder.js'
import { PARITY_NAMES } from '../parity/verdict/checks.js'
import { renderRequestOptions } from '../prepare/request-options.js'
import { runBenchCommand } from './bench.js'

/**
 * `lab --time`: measures the CPU time of both sides, interleaved.
 * @import { RequestOptions } from '../model/requests.js'
 * @import { Side } from '../lab/sides.js'
 * @import { Context } from './program.js'
 */
/**
 * Both sides, as they are counted, then timed.
 * @typedef {object} TimedSides
 * @property {Side} side the new one
 * @property {string} [against] the old side, as the user wrote it
 * @property {string[]} link only the first one is measured
 * @property {number} [payload] bytes
 * @property {RequestOptions} [requestAxes]
 * @property {string} [features]
 * @property {string[]} pipy programs of Pipy: none, or two to compare, that of the old side first
 * @property {boolean} parity false: the two sides need not do equal work
 * @property {(into: string) => Promise<unknown>} count counts both sides, and writes the old scripts to the folder `into` if they
 *   come from git
 */

/**
 * Counts the instructions of both sides, then measures their CPU time with `bench`. A pipeline without `against` is measured alone.
 * @param {TimedSides} timed
 * @param {Context} context
 * @throws {BenchError} if no temporary folder can be made; any error of the count, and of `bench`
 */
export async function countAndTimeSides({ side, against: requestedSide, pipy, count, parity, ...axes }, context) {
  await withTemporaryFolder('sidecar-bench-lab', async folder => {
    const against = chooseOldSide(requestedSide ?? null, side.scripts)
    const into = path.join(folder, against.replace(/[^\w.-]+/g, '-'))
    await count(into)
    // A pipeline has an old side only if the user names one.
    const isAlone = side.pipeline !== null && requestedSide === undefined
    // A verdict compares the first plane with the second: the new side comes first.
    const scripts = isAlone ? [side.scripts] : [side.scripts, locateOldSide({ against, into })]
    const variants = pipy.length > 0 ? pipy.toReversed() : scripts
    const planes = variants.map(variant => (isKitFolder(variant) ? 'pipy' : `pipy=${variant}`))
    const words = listBenchArguments({ planes, ...axes })
    // Scripts that were counted without the equal-work check are measured without it, too.
    const relaxes = parity ? [] : PARITY_NAMES.map(gate => ({ gate, why: '--no-parity' }))
    await runBenchCommand(words, context, { relaxes })
  })
}

/**
 * Lists the arguments of `bench` that measure both sides.
 * @param {Pick<TimedSides, 'link' | 'payload' | 'requestAxes' | 'features'> & { planes: string[] }} timed planes: the
 *   choices of --planes, in this order; link: at least one
 * @returns {string[]}
 */
export function listBenchArguments({ planes, link, payload, requestAxes, features }) {
  const words = ['cost', '--planes', planes.join(), '--link', link[0]]
  if (payload !== undefined) words.push('--payload', `${payload}B`)
  if (requestAxes !== undefined) words.push(...renderRequestOptions(requestAxes))
  if (features !== undefined) words.push('--features', features)
  return words
}
