import { isAtLeast } from '../../lib/version.js'

/**
 * @import { ToolSpec } from '../../model/types.ts'
 * @type {ToolSpec}
 */
export const k6Tool = {
  name: 'k6',
  variable: 'K6',
  image: 'grafana/k6:1.1.0',
  versionArgv: ['version'],
  parseVersion: text => /^k6(?:\.exe)? v(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '>= 1.0',
  isAccepted: version => isAtLeast(version, '1.0'),
}
