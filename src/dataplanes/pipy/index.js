import { createSidecar } from './launch.js'

/**
 * @import { DataPlane, ToolSpec } from '../../types.ts'
 */

/** @type {ToolSpec} */
export const pipyTool = {
  name: 'pipy',
  variable: 'PIPY',
  image: 'flomesh/pipy:1.5.18',
  versionArgv: ['--version'],
  parseVersion: text => /^Version\s*:\s*(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '1.5.x or 2.0.x',
  isAccepted: version => /^(1\.5|2\.0)\./.test(version),
}

/** @type {DataPlane} */
export const pipy = { name: 'pipy', tool: pipyTool, hasVariants: true, createSidecar, parseOverflows: null }
