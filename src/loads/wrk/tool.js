import { isAtLeast } from '../../lib/version.js'

/** @type {import('../../model/types.ts').ToolSpec} */
export const wrkTool = {
  name: 'wrk',
  variable: 'WRK',
  image: null,
  package: 'wrk',
  versionArgv: ['--version'],
  parseVersion: text => /^wrk (?:debian\/)?(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '>= 4.0',
  isAccepted: version => isAtLeast(version, '4.0'),
}
