import { createVersionBound } from '../lib/version.js'

/** @import { ToolSpec } from '../model/types.ts' */

/** The kernel's own profiler samples the stacks of a process while it runs. @type {ToolSpec} */
export const perfTool = {
  name: 'perf',
  variable: 'PERF',
  image: null,
  package: 'linux-perf',
  versionArgv: ['--version'],
  parseVersion: text => /^perf version (\d+\.\d+(?:\.\d+)?)/m.exec(text)?.[1] ?? null,
  ...createVersionBound('4.9'),
}

/** Valgrind's tool callgrind runs a program and counts the instructions of each function. @type {ToolSpec} */
export const valgrindTool = {
  name: 'valgrind',
  variable: 'VALGRIND',
  image: null,
  package: 'valgrind',
  versionArgv: ['--version'],
  parseVersion: text => /^valgrind-(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  ...createVersionBound('3.15'),
}

/** Strace lists the system calls of a process. @type {ToolSpec} */
export const straceTool = {
  name: 'strace',
  variable: 'STRACE',
  image: null,
  package: 'strace',
  versionArgv: ['--version'],
  parseVersion: text => /version (\d+\.\d+)/m.exec(text)?.[1] ?? null,
  ...createVersionBound('4.21'),
}
