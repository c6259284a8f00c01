import path from 'node:path'
import { openLedger } from '../../src/node/ledger.js'
import { createRig } from '../../src/parity/rig.js'
import { createLocalTarget } from '../../src/targets/local/index.js'
import { capWay } from './real-tools.js'

/** @typedef {Parameters<typeof createRig>[0]} RigOptions */

/**
 * Makes the rig of a plane on this machine, by the kit's own scripts; closing it closes its target, too.
 * @param {Omit<RigOptions, 'target' | 'index' | 'scripts' | 'profile' | 'signal'> & { signal?: AbortSignal }} options
 */
export async function createLocalRig({ signal = new AbortController().signal, ...options }) {
  const ledger = openLedger({ runId: `test-${process.pid}-${Date.now()}` })
  const target = await createLocalTarget({ ledger, way: capWay })
  try {
    const scripts = path.resolve('pipy-scripts')
    const rig = await createRig({ ...options, target, index: 0, scripts, profile: null, signal })
    return { ...rig, close: () => rig.close().finally(target.close) }
  } catch (error) {
    await target.close()
    throw error
  }
}
