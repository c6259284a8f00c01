import { pipy, pipyTool } from '../../src/dataplanes/pipy/index.js'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { k6Tool } from '../../src/loads/k6/index.js'
import { wrkTool } from '../../src/loads/wrk/index.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { findOnPath, findTool } from '../../src/tools/find.js'

const dataPlanes = Object.values(await loadPlanes())

/** @import { DataPlane, Tool, ToolSpec } from '../../src/model/types.ts' */

// The program of another plane is the one that a folder of the user names.
const toolPlanes = dataPlanes.filter(({ pipelines }) => pipelines !== 'only')

/** The real programs, found as the kit finds them, by name; null where one cannot be had. */
export const tools = Object.fromEntries(
  await Promise.all(
    [...toolPlanes.flatMap(({ tool }) => tool ?? []), k6Tool, wrkTool].map(async spec => [spec.name, await find(spec)]),
  ),
)

export const capWay = await findCapWay()

/** @type {{ plane: DataPlane, tool: Tool | null }[]} */
export const sidecarPlanes = toolPlanes.flatMap(plane => (plane.tool ? [{ plane, tool: tools[plane.tool.name] }] : []))

// A second Pipy, of the other series, runs the same corpus where PIPY_OTHER names one.
if (process.env.PIPY_OTHER) {
  const other = await findTool(pipyTool, { environment: { PIPY: process.env.PIPY_OTHER }, fetch: null })
  if (!('missing' in other)) sidecarPlanes.push({ plane: { ...pipy, name: `pipy-${other.version}` }, tool: other })
}

/**
 * Skips a test, and names the tools it needs, when one of them is missing.
 * @param {import('vitest').TestContext} context @param {string[]} names of programs, or `caps`
 */
export function need(context, ...names) {
  const missing = names.filter(name => (name === 'caps' ? capWay.how !== 'v1' && capWay.how !== 'v2' : !tools[name]))
  if (missing.length > 0) context.skip(`needs ${missing.join(', ')}, which cannot be had here`)
}

/** Skips a test where no network namespaces can be made. @param {import('vitest').TestContext} context @param {string[]} programs */
export async function needNamespaces(context, ...programs) {
  if (process.getuid?.() !== 0) context.skip('needs root, to make network namespaces')
  for (const name of ['ip', 'nsenter', 'setpriv', ...programs])
    if ((await findOnPath(name, `${process.env.PATH}`)) === null)
      context.skip(`needs ${name}, which cannot be had here`)
}

/** @param {ToolSpec} spec @returns {Promise<Tool | null>} */
async function find(spec) {
  const tool = await findTool(spec)
  return 'missing' in tool ? null : tool
}
