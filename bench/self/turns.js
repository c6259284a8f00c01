// Several runs that take turns, round by round, in one process: what drifts on the machine meets them all.
import path from 'node:path'
import { pipyTool } from '../../src/dataplanes/pipy/index.js'
import { dataPlanes } from '../../src/dataplanes/registry.js'
import { createTurns } from '../../src/lib/turns.js'
import { k6 } from '../../src/loads/k6/index.js'
import { readRun } from '../../src/records/records.js'
import { prepare, readExperiment, runBench } from '../../src/run/bench.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { openLocalSite } from '../../src/targets/local/site.js'
import { findTool } from '../../src/tools/find.js'
import { nodeTool } from '../../src/tools/node.js'
import { scratch } from './kit.js'

/**
 * @import { Summary, TrialRecord } from '../../src/model/types.ts'
 */

const say = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)
let started = 0

/**
 * @param {{ experiment: string, watch?: Parameters<typeof runBench>[0]['watch'] }[]} runs experiment: a file
 * @returns {Promise<{ folder: string, manifest: any, records: TrialRecord[], summary: Summary }[]>}
 */
export async function benchInTurns(runs) {
  const way = await findCapWay()
  const turns = createTurns(runs.length)
  return Promise.all(
    runs.map(async ({ experiment, watch }, i) => {
      const id = ++started
      const site = await openLocalSite({ runId: `turns-${process.pid}-${id}`, way, findTool })
      try {
        const preparation = await prepare({
          ...{ experiment: readExperiment(experiment), overrides: OVERRIDES, thresholds: [], app: null, dataPlanes },
          ...{ load: k6, site, pipyTool, nodeTool, say },
        })
        const { folder, summary } = await runBench({
          ...{ preparation, site, dataPlanes, load: k6, thresholds: [], retain: false, command: [], watch, say },
          ...{ out: path.join(scratch, `turns-${id}`), turns: turns[i], signal: new AbortController().signal },
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

/** @type {import('../../src/plan/plan.js').Overrides} */
const OVERRIDES = /** @type {any} */ ({
  ...{ planes: null, caps: null, axes: {}, rounds: null, profile: 'standard', seed: 1, app: 'pipy', isPinned: false },
  ...{ warmupLeastSeconds: 0, windowLeastSeconds: 0 },
})
