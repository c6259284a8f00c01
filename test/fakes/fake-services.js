import { fakeTool } from './fake-bench.js'
import { createArm } from './fake-records.js'

/**
 * @import { Conditions, DataPlane, Place } from '../../src/model/types.ts'
 * @import { ArmServices } from '../../src/services/specs.js'
 */

/**
 * What the processes of an arm are made from: a client that calls a server.
 * @param {{ plane: DataPlane, places: Record<string, Place>, conditions?: Partial<Conditions> }} options conditions: other
 *   than those of createArm
 * @returns {ArmServices}
 */
export function createServices({ plane, places, conditions }) {
  const arm = createArm({})
  return {
    arm: { ...arm, conditions: { ...arm.conditions, ...conditions } },
    topology: {
      name: 'pair',
      services: [
        { name: 'client', application: null, calls: ['server'] },
        { name: 'server', application: 'echo', calls: [] },
      ],
      entry: { service: 'client', listener: 'outbound' },
    },
    places,
    programs: {
      planes: { [arm.plane]: plane },
      tools: { cheap: fakeTool },
      appRuntime: { ...fakeTool, name: 'node' },
    },
    folders: { process: '/raw/t', scripts: '/s', echo: '/e', certificates: '/c' },
    locate: folder => folder,
    scriptFiles: {},
    trafficPolicy: 'listed',
    cpus: 2,
  }
}
