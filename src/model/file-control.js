/** @import { Control } from './types.ts' */

/**
 * Files as a control plane: nothing runs beside the sidecars, each reads those of its own folder.
 * @param {Pick<Control, 'createSidecar' | 'commit'> & Partial<Control>} own @returns {Control}
 */
export function createFileControl(own) {
  return { name: 'file', createProcess: null, setUp: () => [], enrol: () => [], stage: () => [], ...own }
}
