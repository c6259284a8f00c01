import { readFileSync } from 'node:fs'
import path from 'node:path'
import { none } from '../../src/dataplanes/none/index.js'
import { parseExperiment } from '../../src/plan/experiment.js'
import { createPlan } from '../../src/plan/plan.js'
import { createResultsFolder, readRun } from '../../src/records/records.js'
import { runPlan } from '../../src/run/run.js'
import { parseTopology } from '../../src/services/topology.js'
import { createFakeLoad, createFakePlane, fakeTool } from './fake-bench.js'
import { hasSidecars } from './fake-records.js'

const EXPERIMENT = `name: fake
question: q
axes: { plane: [none, cheap, dear], link: [gateway-ratings], capCores: [0.25], users: [10] }
`

/**
 * The whole kit on a fake target and a fake load: six rounds of none, cheap (and once more, A/A) and dear.
 * @param {{ folder: string, target: any, load?: any, signal?: AbortSignal, text?: string }} options text: of the experiment
 */
export async function runFake({ folder, target, text = EXPERIMENT, load = createFakeLoad(), ...options }) {
  const { signal = new AbortController().signal } = options
  const experiment = parseExperiment(text, 'fake.yaml')
  createResultsFolder(folder)
  const plan = createPlan({
    experiment,
    overrides: {
      ...{ planes: null, caps: null, axes: {}, rounds: null },
      ...{ profile: 'standard', seed: 1, app: 'pipy', isPinned: true },
    },
    cpus: 4,
    missing: [],
    hasSidecars,
  })
  const planes = Object.fromEntries([none, createFakePlane('cheap'), createFakePlane('dear')].map(p => [p.name, p]))
  const manifest = {
    ...{
      schemaVersion: 2,
      run: { id: 'x', startedAt: '', experiment: 'fake', seed: 1 },
      target: 'fake',
      machine: {},
      tools: {},
    },
    ...{ rounds: plan.rounds, arms: plan.arms, notMeasured: plan.notMeasured, settings: plan.settings },
    thresholds: [],
  }
  const summary = await runPlan({
    plan,
    bench: {
      ...{
        settings: plan.settings,
        target,
        load,
        loadTool: fakeTool,
        planes,
        tools: { cheap: fakeTool, dear: fakeTool },
      },
      appRuntime: { ...fakeTool, name: 'pipy' },
      topologies: {
        'gateway-ratings': parseTopology(readFileSync('bench/topologies/gateway-ratings.yaml', 'utf8'), 't'),
      },
      ...{ sampleSource: 'cgroup', cpus: 4, placements: {}, retain: false },
      folders: { pipyScripts: '/p', echo: '/e', k6: '/k', certificates: '/c', raw: path.join(folder, 'raw') },
    },
    ...{ gateParity: async () => [], folder, manifest, signal, say: () => {} },
  })
  return { summary, records: /** @type {any[]} */ (readRun(folder).records) }
}
