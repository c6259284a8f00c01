import { createControlProcess } from '../../src/model/processes.js'
import { createFakePlane, fakeTool } from './fake-bench.js'

/** @import { Control, DataPlane } from '../../src/model/types.ts' */

/**
 * A plane with a control plane, whose sidecars answer from their start on.
 * @param {Partial<Control>} [control] @returns {DataPlane}
 */
export function createControlledPlane(control = {}) {
  const plane = createFakePlane('cheap')
  const create = /** @type {NonNullable<DataPlane['createSidecar']>} */ (plane.createSidecar)
  return {
    ...plane,
    controls: [
      {
        ...{ name: 'fake', findUnsupported: () => null },
        estimateNeeds: () => ({ sidecarBytes: 0, controlBytes: 0, inotifyInstances: 0, threads: 0 }),
        createProcess: options => createControlProcess({ ...options, controlTool: fakeTool }, { argv: [] }),
        setUp: () => [],
        enrol: () => [],
        createSidecar: options => ({
          ...create(options),
          argv: ['run'],
          listens: [options.model.inbound, options.model.outbound].flatMap(listener =>
            listener ? [{ address: listener.address, port: listener.port }] : [],
          ),
        }),
        stage: () => [],
        commit: ({ control: endpoint }) => [{ kind: 'request', endpoint, method: 'POST', path: '/commit', body: '' }],
        ...control,
      },
    ],
  }
}
