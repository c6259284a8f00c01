import { pipy, pipyTool } from '../../src/dataplanes/pipy/index.js'
import { dataPlanes } from '../../src/dataplanes/registry.js'
import { k6Tool } from '../../src/loads/k6/tool.js'
import { wrkTool } from '../../src/loads/wrk/tool.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { findTool } from '../../src/tools/find.js'

/** @import { DataPlane, Tool, ToolSpec } from '../../src/model/types.ts' */

/** The real programs, found as the kit finds them, by name; null where one cannot be had. */
export const tools = Object.fromEntries(
  await Promise.all(
    [...dataPlanes.flatMap(({ tool }) => tool ?? []), k6Tool, wrkTool].map(async spec => [spec.name, await find(spec)]),
  ),
)

export const capWay = await findCapWay()

/** @type {{ plane: DataPlane, tool: Tool | null }[]} */
export const sidecarPlanes = dataPlanes.flatMap(plane => (plane.tool ? [{ plane, tool: tools[plane.tool.name] }] : []))

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

/** @param {ToolSpec} spec @returns {Promise<Tool | null>} */
async function find(spec) {
  const found = await findTool(spec)
  return 'missing' in found ? null : found
}
