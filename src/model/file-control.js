/** @import { Control } from './types.ts' */

/**
 * Creates a control plane of files: nothing runs beside the sidecars, and each reads the files of its own folder. It has no
 * actions before the commit unless they are overridden.
 * @param {Pick<Control, 'createSidecar' | 'commit'> & Partial<Control>} overrides
 * @returns {Control}
 */
export function createFileControl(overrides) {
  return { name: 'file', createProcess: null, setUp: () => [], enrol: () => [], stage: () => [], ...overrides }
}
