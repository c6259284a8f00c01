/** No sidecars at all: the same applications and links, called directly. */
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
