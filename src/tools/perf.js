import { isAtLeast } from '../lib/version.js'

/**
 * Samples what a process does while it runs: the kernel's own profiler.
 * @import { ToolSpec } from '../model/types.ts'
 * @type {ToolSpec}
 */
export const perfTool = {
  name: 'perf',
  variable: 'PERF',
  image: null,
  package: 'linux-perf',
  versionArgv: ['--version'],
  parseVersion: text => /^perf version (\d+\.\d+(?:\.\d+)?)/m.exec(text)?.[1] ?? null,
  wanted: '>= 4.9',
  isAccepted: version => isAtLeast(version, '4.9'),
}
