import path from 'node:path'
import { chooseOldSide, isKitScripts, locateOldSide } from '../lab/sides.js'
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
 * @property {string[]} link only the first one is measured
 * @property {number} [payload] bytes
 * @property {RequestOptions} [requestAxes]
 * @property {string} [features]
 * @property {string[]} pipy programs of Pipy
 * @property {boolean} parity false: the two sides need not do equal work
 */

/**
 * Counts the instructions of both sides, then measures their CPU time with `bench`.
 * @param {Timed & { count: (into: string) => Promise<unknown> }} timed count: counts both sides, and writes the old
 *   scripts to the folder `into` if they come from git
 * @param {Context} context
 */
export async function timeSides({ side, against: requestedSide, pipy, count, parity, ...load }, context) {
  await withTemporaryFolder('sidecar-bench-lab', async folder => {
    const against = chooseOldSide(requestedSide ?? null, side.scripts)
    const into = path.join(folder, against.replace(/[^\w.-]+/g, '-'))
    await count(into)
    // A verdict compares the first plane with the second: the new side comes first.
    const old = side.pipeline !== null && requestedSide === undefined ? [] : [locateOldSide({ against, into })]
    const sides = pipy.length > 0 ? pipy : [side.scripts, ...old]
    const planes = sides.map(scripts => (isKitScripts(scripts) ? 'pipy' : `pipy=${scripts}`))
    const words = listBenchArguments({ planes, ...load })
    // Scripts that were counted without the equal-work check are measured without it, too.
    const relaxes = parity ? [] : PARITY_NAMES.map(gate => ({ gate, why: '--no-parity' }))
    await runBenchCommand(words, context, { relaxes })
  })
}

/**
 * Lists the arguments of `bench` that measure both sides.
 * @param {Pick<Timed, 'link' | 'payload' | 'requestAxes' | 'features'> & { planes: string[] }} timed planes: the
 *   choices of --planes, the new side first
 * @returns {string[]}
 */
export function listBenchArguments({ planes, link, payload, requestAxes, features }) {
  const words = ['cost', '--planes', planes.join(), '--link', link[0]]
  if (payload !== undefined) words.push('--payload', `${payload}B`)
  if (requestAxes !== undefined) words.push(...renderRequestOptions(requestAxes))
  if (features !== undefined) words.push('--features', features)
  return words
}
