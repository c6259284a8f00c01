// What the kit's own Pipy scripts cost beside the shortest that do the same hop, in instructions a request.
import { execa } from 'execa'
import { median } from 'simple-statistics'
import { ROOT } from '../../src/lib/paths.js'

/**
 * @import { Found } from '../../src/lab/text.js'
 * @import { Finding } from './kit.js'
 */

const GOAL = 1.05
// Two starts of the same scripts are further apart than two counts of one start.
const STARTS = 3
const REQUESTS = 700
const SIDECARS = ['client', 'server']

/** @returns {Promise<Finding[]>} of each side of the link `pair` */
export async function compareWithShortest() {
  /** @type {Pick<Found, 'rows'>[]} */
  const starts = []
  for (let start = 0; start < STARTS; start++) starts.push(await countBoth({ hasParity: start === 0 }))
  return judgePipeline(starts)
}

/** @param {{ hasParity: boolean }} options once is enough: the scripts stay the same */
async function countBoth({ hasParity }) {
  const words = ['lab', 'pipy-scripts', '--against', 'bench/pipy-shortest', '--link', 'pair', '--json']
  const argv = [...words, '--requests', `${REQUESTS}`, ...(hasParity ? [] : ['--no-parity'])]
  const { exitCode, stdout } = await execa('node', ['src/cli.js', ...argv], {
    ...{ cwd: ROOT, stderr: 'inherit', reject: false },
  })
  if (exitCode !== 0) throw new Error(`the count of the scripts ended with status ${exitCode}`)
  return JSON.parse(stdout)
}

/**
 * Undecided where the goal lies within what the ratios of the starts are apart, each with what two of its counts are apart.
 * @param {Pick<Found, 'rows'>[]} starts
 * @returns {Finding[]}
 */
export function judgePipeline(starts) {
  return SIDECARS.map(sidecar => {
    const rows = starts.flatMap(start =>
      start.rows.filter(({ service, quantity }) => service === sidecar && quantity === 'instructions'),
    )
    const promise = `full sidecar / shortest script, instructions a request, ${sidecar}'s side, at most ${GOAL}`
    if (rows.length === 0) return { promise, measured: 'it was not counted', isKept: null }
    const low = Math.min(...rows.map(({ ratio, spread }) => ratio * (1 - spread)))
    const high = Math.max(...rows.map(({ ratio, spread }) => ratio * (1 + spread)))
    const measured = `${median(rows.map(({ ratio }) => ratio)).toFixed(4)} [${low.toFixed(4)}, ${high.toFixed(4)}] in ${rows.length} starts`
    return { promise, measured, isKept: low <= GOAL && high > GOAL ? null : high <= GOAL }
  })
}
