import { readFileSync } from 'node:fs'
import path from 'node:path'
import { none } from '../../src/dataplanes/none/index.js'
import { KINDS } from '../../src/kinds/registry.js'
import { openLedger } from '../../src/node/ledger.js'
import { writeSummary } from '../../src/prepare/write-summary.js'
import { readRun } from '../../src/records/records.js'
import { createResultsFolder } from '../../src/records/write.js'
import { parseExperiment } from '../../src/request/experiment.js'
import { runPlan } from '../../src/run/run.js'
import { createPlacementRule } from '../../src/services/placement.js'
import { parseTopology } from '../../src/services/topology.js'
import { createFakeLoad, createFakePlane, createFakeTarget, fakeTool } from './fake-bench.js'
import { createManifest } from './fake-manifest.js'
import { createFakePlan } from './fake-plan.js'

/**
 * @import { DataPlane, LoadGenerator, Site } from '../../src/model/types.ts'
 * @import { Watcher } from '../../src/run/events.js' @import { Kind } from '../../src/run/kind.js'
 * @import { Preparation } from '../../src/run/execute.js' @import { GateParity } from '../../src/run/kind.js'
 */

let runs = 0

const AXES = '{ plane: [none, cheap, dear], link: [gateway-ratings], cpuLimitCores: [0.25], users: [10] }'

/**
 * @typedef {object} FakeRun
 * @property {string} folder
 * @property {any} [target]
 * @property {LoadGenerator} [load]
 * @property {string} [axes] of the experiment, as YAML
 * @property {string} [more] of the experiment, as YAML
 * @property {string} [text] the experiment, instead of axes and more
 * @property {number[][]} [cores] that can be given out
 * @property {DataPlane[]} [planes]
 * @property {{ width: number, maxMinutes: number }} [precision]
 * @property {string[]} [thresholds]
 * @property {boolean} [retain]
 * @property {Kind} [kind] of the trials, instead of the plan's
 * @property {GateParity} [gate]
 * @property {Watcher['watch']} [watch]
 * @property {AbortSignal} [signal]
 */

/**
 * The whole kit on a fake target and a fake load: six rounds of none, cheap (and once more, A/A) and dear.
 * @param {FakeRun} options
 */
export async function runFake({ folder, signal = new AbortController().signal, ...options }) {
  const { retain, watch, thresholds = [], gate = async () => [], target = await createFakeTarget() } = options
  createResultsFolder(folder)
  const { preparation, site } = prepareFake({ ...options, target, ledgers: path.join(folder, 'ledgers') })
  const { plan, ...prepared } = preparation
  const { arms, rounds, notMeasured, settings, search } = plan
  const manifest = createManifest({ target: 'fake', arms, rounds, notMeasured, settings, search, thresholds })
  manifest.machine.cpus = site.cpus
  const raw = path.join(folder, 'raw')
  const folders = { results: folder, raw, pipyScripts: 'pipy-scripts', echo: '/e', load: '/k', certificates: '/c' }
  const testbed = { site, ...prepared, folders, settings: plan.settings }
  const kinds = options.kind
    ? [options.kind]
    : await Promise.all(plan.parts.map(({ kind }) => KINDS[kind].loadCourse()))
  const watcher = { say: () => {}, watch, follow: watch }
  await runPlan({ plan, testbed, kinds, manifest, execution: { retain }, watcher, signal, gate })
  return { summary: writeSummary(folder), records: /** @type {any[]} */ (readRun(folder).records) }
}

/**
 * @param {Pick<FakeRun, 'target' | 'load' | 'axes' | 'more' | 'text' | 'cores' | 'planes' | 'precision'> & { ledgers: string }} options
 *   ledgers: the folder of ledgers
 * @returns {{ preparation: Preparation, site: Site }}
 */
export function prepareFake({
  target,
  ledgers,
  load = createFakeLoad(),
  axes = AXES,
  more = '',
  cores = [],
  ...options
}) {
  const { text = `name: fake\nquestion: q\naxes: ${axes}\n${more}` } = options
  const planes = options.planes ?? [none, createFakePlane('cheap'), createFakePlane('dear')]
  const cpus = Math.max(4, cores.length)
  const runId = `fake-${process.pid}-${++runs}`
  const plan = createFakePlan(parseExperiment(text, 'fake.yaml'), {
    overrides: { precision: options.precision },
    cpus,
    findRealMost: ({ plane }) => planes.find(({ name }) => name === plane)?.controls?.[0].simulates?.realMost ?? null,
  })
  const topologies = {
    'gateway-ratings': parseTopology(readFileSync('bench/topologies/gateway-ratings.yaml', 'utf8'), 't'),
  }
  return {
    preparation: {
      plan,
      programs: {
        planes: Object.fromEntries(planes.map(p => [p.name, p])),
        load,
        tools: { cheap: fakeTool, dear: fakeTool, fake: fakeTool },
        appRuntime: { ...fakeTool, name: 'pipy' },
      },
      layout: { topologies, placementOf: createPlacementRule({ arms: plan.arms, topologies, cores }) },
    },
    site: {
      ...{
        target,
        runId,
        ledger: openLedger({ runId, root: ledgers }),
        cpus,
        machine: { cpus },
        sampleSource: 'cgroup',
        assertCpuSettings: () => {},
        assertInterception: async () => {},
        cores,
      },
      findTool: async () => fakeTool,
    },
  }
}
