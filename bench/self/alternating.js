// Several runs that alternate, round by round, in one process: what drifts on the machine meets them all.
import path from 'node:path'
import { createTurns } from '../../src/lib/alternate.js'
import { measure } from '../../src/prepare/measure.js'
import { prepare } from '../../src/prepare/prepare.js'
import { readExperiment } from '../../src/prepare/read-experiment.js'
import { readRun } from '../../src/records/records.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { openLocalSite } from '../../src/targets/local/index.js'
import { findTool } from '../../src/tools/find.js'
import { scratch } from './kit.js'

/**
 * @import { Handle, LoadGenerator, ProcessSpec, Role, Site, Summary, TrialRecord } from '../../src/model/types.ts'
 * @import { Watcher } from '../../src/run/events.js'
 */

const say = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)
let started = 0

/**
 * @param {{ experiment: string, caps?: number[], sliceMs?: number, load?: LoadGenerator, watch?: Watcher['watch'],
 *   gate?: import('../../src/parity/gate.js').GateParity, place?: Record<Role, number[]>, deployed?: (processes: Handle[]) => void }[]} runs experiment: a file; caps: in the place
 *   of its own, and also where they cannot bind; place: the CPUs of each role
 * @returns {Promise<{ folder: string, manifest: any, records: TrialRecord[], summary: Summary }[]>}
 */
export async function benchAlternately(runs) {
  const way = await findCapWay()
  const turns = createTurns(runs.length)
  return Promise.all(
    runs.map(async ({ experiment, caps = null, sliceMs, load, watch, gate, place, deployed }, i) => {
      const id = ++started
      const opened = await openLocalSite({ runId: `turns-${process.pid}-${id}`, way, findTool })
      const site = { ...opened, target: interpose(opened.target, { place, deployed }) }
      try {
        const preparation = await prepare({
          experiment: readExperiment(experiment),
          overrides: { ...OVERRIDES, caps, sliceMs },
          load,
          app: null,
          site,
          say,
        })
        const { folder, summary } = await measure({
          preparation,
          site,
          out: path.join(scratch, `turns-${id}`),
          execution: { command: [], turns: turns[i] },
          watcher: { say, watch },
          gate,
          signal: new AbortController().signal,
        })
        const { manifest, records } = readRun(folder)
        return { folder, manifest, records, summary }
      } finally {
        turns[i].leave()
        await site.target.close()
      }
    }),
  )
}

/**
 * @param {Site['target']} target
 * @param {{ place?: Record<Role, number[]>, deployed?: (processes: Handle[]) => void }} options
 * @returns {Site['target']}
 */
function interpose(target, { place, deployed }) {
  return {
    ...target,
    async deploy(specs, at) {
      const placed = specs.map(spec => (place ? { ...spec, cpuSet: place[spec.role] } : spec))
      const deployment = await target.deploy(placed, at)
      deployed?.(deployment.processes)
      return deployment
    },
  }
}

/** @type {import('../../src/plan/question.js').Overrides} */
const OVERRIDES = /** @type {any} */ ({
  ...{ planes: null, axes: {}, rounds: null, profile: 'standard', seed: 1, app: 'pipy', isPinned: false },
  ...{ warmupLeastSeconds: 0, windowLeastSeconds: 0 },
})
