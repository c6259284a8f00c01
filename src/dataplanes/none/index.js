/** The baseline without sidecars: the same applications call each other directly. */
/** @import { DataPlane } from '../../model/types.ts' @type {DataPlane} */
export const none = {
  name: 'none',
  tool: null,
  hasVariants: false,
  profiles: [],
  countWorkers: () => null,
  createSidecar: null,
  parseOverflows: null,
  findUnsupported: () => null,
}
