/**
 * Node serves applications if there is no Pipy, or Pipy cannot (gRPC, answers in chunks); on a cluster it runs the agents, too.
 * @type {import('../model/types.ts').ToolSpec}
 */
export const nodeTool = {
  name: 'node',
  variable: 'NODE',
  image: 'node:20.20.2-slim',
  versionArgv: ['--version'],
  parseVersion: text => /^v(\d+\.\d+\.\d+)/m.exec(text)?.[1] ?? null,
  wanted: '>= 20',
  isAccepted: version => Number(version.split('.')[0]) >= 20,
}
