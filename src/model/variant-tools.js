/** The programs of arms whose variant is a program, not a folder of scripts. Pure. */
/** @import { PlaneChoice, Tool, ToolSpec } from './types.ts' */

/** @typedef {{ tool: Pick<ToolSpec, 'name'>, variant: PlaneChoice['variant'] }} Variant tool: of its plane */

/** The key in the tools of a run, such as `pipy=/usr/local/bin/pipy-2.0`. @param {Variant} variant */
export function nameVariantTool({ tool, variant }) {
  return `${tool.name}=${variant}`
}

/** Finds the program of an arm's sidecars: its variant's own, or the plane's. @param {Record<string, Tool>} tools @param {Variant} variant */
export function toolOf(tools, variant) {
  return tools[nameVariantTool(variant)] ?? tools[variant.tool.name]
}
