import { isAtLeast } from '../lib/version.js'

/**
 * Counts instructions: its tool callgrind runs a program and notes what each function executes.
 * @import { ToolSpec } from '../model/types.ts'
 * @type {ToolSpec}
 */
export const valgrindTool = {
  name: 'valgrind',
  variable: 'VALGRIND',
  image: null,
  package: 'valgrind',
  versionArgv: ['--version'],
  parseVersion: text => /^valgrind-(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '>= 3.15',
  isAccepted: version => isAtLeast(version, '3.15'),
}
