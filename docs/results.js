import { existsSync, readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { loadPlanes } from '../src/dataplanes/registry.js'
import { findQuantity, formatValue, QUANTITIES } from '../src/judge/quantities.js'
import { renderArmName } from '../src/model/arms.js'
import { listArms } from '../src/model/results.js'
import { readSummary } from '../src/records/records.js'
import { withRuns } from '../src/verbs/open-runs.js'
import { verifyRunFolder } from '../src/verbs/verify.js'

const dataPlanes = Object.values(await loadPlanes())

/** The table of results by node, from the bundles of docs/results/. @import { Summary, SummaryArm } from '../src/model/types.ts' */

const FOLDER = fileURLToPath(new URL('results/', import.meta.url))
const HEADER = ['node', 'run', 'plane', 'arms', 'µs CPU per request', 'RSS MiB']

/** Reads a header, and a row for each plane of each bundle. @returns {Promise<string[][]>} @throws where `verify` does not accept one */
export async function tabulateResults() {
  const files = existsSync(FOLDER) ? readdirSync(FOLDER).filter(name => name.endsWith('.tar.gz')) : []
  const rows = []
  for (const name of files.sort()) rows.push(...(await withRuns([`${FOLDER}${name}`], ([run]) => readRows(name, run))))
  return [HEADER, ...rows]
}

/** @param {string} name of the bundle @param {string} folder */
async function readRows(name, folder) {
  const { agrees, lines } = await verifyRunFolder(folder)
  if (!agrees) throw new Error(`docs/results/${name} is not accepted by verify: ${lines.join('; ')}`)
  const summary = readSummary(folder)
  const sidecarArms = listArms(summary).filter(
    arm => arm.hasSidecars && arm.repeatOf === null && arm.trials.completed > 0,
  )
  const inTurns = sidecarArms.filter(({ load }) => load.kind === 'interleaved')
  const arms = inTurns.length > 0 ? inTurns : sidecarArms
  const ofRun = [renderNode(summary), `[${summary.run.experiment}](results/${name})`]
  // The rows below the first are of the same run.
  return arms.map((arm, i) => [...(i === 0 ? ofRun : ['', '']), ...renderArm(arm, summary)])
}

/** @param {Summary} summary */
function renderNode({ machine }) {
  const { cpus, cpuModel, architecture, kernel, cgroupVersion } = /** @type {Record<string, any>} */ (machine)
  return `${[`${cpus} CPUs`, cpuModel, architecture].filter(Boolean).join(', ')}; ${kernel}; cgroup v${cgroupVersion}`
}

/** @param {SummaryArm} arm @param {Summary} summary */
function renderArm(arm, { tools }) {
  const tool = dataPlanes.find(({ name }) => name === arm.plane)?.tool?.name ?? ''
  const [cost, memory] = ['cpuPerRequest', 'rss'].map(name => {
    const { median, low, high } = findQuantity(arm, name)
    const [middle, ...ends] = [median, low, high].map(value =>
      value === null ? null : formatValue(QUANTITIES[name], value),
    )
    return middle === null ? '-' : `${middle}${ends.includes(null) ? '' : ` (${ends.join(' to ')})`}`
  })
  const at =
    arm.load.kind === 'interleaved'
      ? 'interleaved'
      : arm.cpuLimitCores === null
        ? 'no cap'
        : `${arm.cpuLimitCores} cores`
  return [`${renderArmName(arm)} ${tools[tool]?.version ?? ''}`.trim(), `${arm.link}, ${at}`, cost, memory]
}
