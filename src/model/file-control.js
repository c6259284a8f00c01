/** @import { Control } from './types.ts' */

/**
 * Creates the control `file`: nothing runs beside the sidecars, and each reads the files of its own folder. Unless they are
 * overridden, it has no actions before the commit.
 * @param {Pick<Control, 'createSidecar' | 'commit'> & Partial<Control>} overrides
 * @returns {Control}
 */
export function createFileControl(overrides) {
  return { name: 'file', createProcess: null, setUp: () => [], enrol: () => [], stage: () => [], ...overrides }
}
