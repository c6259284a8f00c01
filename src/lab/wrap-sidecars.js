/**
 * @import { DataPlane, ProcessSpec } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 */

/**
 * Copies a testbed, with planes that wrap the sidecars they create. Planes without sidecars stay as they are.
 * @param {Testbed} testbed
 * @param {(spec: ProcessSpec) => ProcessSpec} wrap changes the process of a sidecar
 * @returns {Testbed}
 */
export function wrapSidecars(testbed, wrap) {
  /** @type {Record<string, DataPlane>} */
  const planes = {}
  for (const [name, plane] of Object.entries(testbed.programs.planes)) {
    const { createSidecar } = plane
    planes[name] = createSidecar ? { ...plane, createSidecar: options => wrap(createSidecar(options)) } : plane
  }
  return { ...testbed, programs: { ...testbed.programs, planes } }
}
