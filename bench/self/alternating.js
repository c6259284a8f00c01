// Several runs that alternate, round by round, in one process: what drifts on the machine meets them all.
import path from 'node:path'
import { measurePreparation } from '../../src/prepare/measure.js'
import { createPreparation } from '../../src/prepare/plan-run.js'
import { readExperiment } from '../../src/prepare/read-experiment.js'
import { readRun } from '../../src/records/records.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { openLocalSite } from '../../src/targets/local/site.js'
import { findTool } from '../../src/tools/find.js'
import { getScratch } from './kit.js'
import { createTurns } from './turns.js'

/**
 * @import { LoadGenerator, ProcessSpec, Site, Summary, TrialRecord } from '../../src/model/types.ts'
 * @import { Watcher } from '../../src/run/events.js'
 */

const say = (/** @type {string} */ line) => void process.stderr.write(`${line}\n`)
let started = 0

/**
 * @typedef {(spec: ProcessSpec) => number[] | undefined} Place the CPUs of a process; undefined: all
 * @param {{ experiment: string, sliceMs?: number, load?: LoadGenerator, watch?: Watcher['watch'], place?: Place,
 *   gate?: import('../../src/run/kind.js').GateParity }[]} runs experiment: a file
 * @returns {Promise<{ folder: string, manifest: any, records: TrialRecord[], summary: Summary }[]>}
 */
export async function benchAlternately(runs) {
  const way = await findCapWay()
  const turns = createTurns(runs.length)
  return Promise.all(
    runs.map(async ({ experiment, sliceMs, load, watch, gate, place }, i) => {
      const id = ++started
      const opened = await openLocalSite({ runId: `turns-${process.pid}-${id}`, way, findTool })
      const site = place ? { ...opened, target: placeProcesses(opened.target, place) } : opened
      try {
        const preparation = await createPreparation({
          experiment: readExperiment(experiment),
          overrides: { ...OVERRIDES, sliceMs },
          load,
          app: null,
          site,
          say,
        })
        const { folder, summary } = await measurePreparation({
          preparation,
          site,
          out: path.join(getScratch(), `turns-${id}`),
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

/** @param {Site['target']} target @param {Place} place @returns {Site['target']} */
function placeProcesses(target, place) {
  return {
    ...target,
    deploy: (specs, at) =>
      target.deploy(
        specs.map(spec => ({ ...spec, cpuSet: place(spec) ?? null })),
        at,
      ),
  }
}

/** @type {import('../../src/request/question.js').Overrides} */
const OVERRIDES = /** @type {any} */ ({
  ...{
    planes: null,
    cpuLimits: null,
    axes: {},
    rounds: null,
    profile: 'standard',
    seed: 1,
    app: 'pipy',
    isPinned: false,
  },
  ...{ warmupLeastSeconds: 0, windowLeastSeconds: 0 },
})
