/** @import { ControlOptions, ProcessSpec } from './types.ts' */

/**
 * The process of a control plane: what is the same whatever plane it is of, and what is the plane's own.
 * @param {ControlOptions} options
 * @param {Pick<ProcessSpec, 'argv'> & Partial<ProcessSpec>} own
 * @returns {ProcessSpec}
 */
export function createControlProcess({ control, controlTool, folder }, own) {
  return {
    service: 'mesh',
    role: 'control',
    program: controlTool.path,
    env: {},
    folder,
    files: [],
    scripts: [],
    credentials: [],
    listens: [control],
    workers: 1,
    cpuCores: null,
    memoryLimitBytes: null,
    cpuSet: null,
    admin: null,
    image: controlTool.image ?? null,
    ...own,
  }
}
