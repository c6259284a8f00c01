/**
 * The program that sets the rules by which connections are redirected to sidecars, on this machine or in an init container.
 * @type {import('../model/types.ts').ToolSpec}
 */
export const iptablesTool = {
  name: 'iptables',
  variable: 'IPTABLES',
  image: 'openservicemesh/init:v1.2.4',
  package: 'iptables',
  versionArgv: ['--version'],
  parseVersion: text => /^iptables v(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '>= 1.8',
  isAccepted: version => /^1\.(?:[89]|\d\d)\./.test(version),
}
