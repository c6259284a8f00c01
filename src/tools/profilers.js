import { isAtLeast } from '../lib/version.js'

/** @import { ToolSpec } from '../model/types.ts' */

/** Samples what a process does while it runs: the kernel's own profiler. @type {ToolSpec} */
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

/** Counts instructions: its tool callgrind runs a program and notes what each function executes. @type {ToolSpec} */
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

/** Writes the system calls that a process makes. @type {ToolSpec} */
export const straceTool = {
  name: 'strace',
  variable: 'STRACE',
  image: null,
  package: 'strace',
  versionArgv: ['--version'],
  parseVersion: text => /version (\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '>= 4.21',
  isAccepted: version => isAtLeast(version, '4.21'),
}
