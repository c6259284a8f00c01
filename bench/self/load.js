// Whether the kit holds a large load: 500 services planned, rendered, run and reported, and 200 cgroups read at 10 Hz.
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { envoy } from '../../src/dataplanes/envoy/index.js'
import { none } from '../../src/dataplanes/none/index.js'
import { pipy } from '../../src/dataplanes/pipy/index.js'
import { listArms } from '../../src/model/results.js'
import { createPlace } from '../../src/model/sidecar-contract.js'
import { openLedger } from '../../src/node/ledger.js'
import { measurePreparation } from '../../src/prepare/measure.js'
import { createSpecs } from '../../src/services/specs.js'
import { createArmTopology } from '../../src/services/topology.js'
import { createAddressAllocator } from '../../src/targets/local/addresses.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { createLocalTarget } from '../../src/targets/local/index.js'
import { writeDocuments } from '../../src/verbs/documents.js'
import { createFakePlane, createFakeTarget } from '../../test/fakes/fake-bench.js'
import { prepareFake } from '../../test/fakes/fake-run.js'
import { createFinding, getScratch } from './kit.js'

/** @import { Finding } from './kit.js' */

const SERVICES = 500
const CGROUPS = 200
const TICKS_SECONDS = 10
const PERIOD_MS = 100
const { signal } = new AbortController()

/** @returns {Promise<Finding[]>} */
export async function holdLoad() {
  // First what costs least: the other leaves a large heap.
  return [...(await holdTicks()), ...(await holdServices())]
}

/** The whole kit on fake processes, and the configurations of both planes besides. @returns {Promise<Finding[]>} */
async function holdServices() {
  const start = performance.now()
  const target = await createFakeTarget()
  const axes = `{ plane: [none, cheap, dear], link: [gateway-ratings], cpuLimitCores: [0.25], users: [10], services: [${SERVICES}] }`
  const more = 'profiles: { standard: { rounds: 2, hasControl: false } }'
  const { preparation, site } = prepareFake({
    target,
    ledgers: path.join(getScratch(), 'ledgers'),
    axes,
    more,
    planes: ['cheap', 'dear'].map(createFakePlane).concat(none),
  })
  const planned = performance.now()
  const rendered = renderBothSidecars(preparation)
  const renderedAt = performance.now()
  const { folder, summary } = await measurePreparation({
    ...{
      preparation,
      site,
      out: path.join(getScratch(), 'services'),
      execution: { command: [] },
      watcher: { say: () => {} },
    },
    ...{
      signal,
      finish: async folder => void (await writeDocuments(folder, { say: console.error })),
      gate: async () => [],
    },
  })
  await target.close()
  const seconds = (performance.now() - start) / 1000
  const megabytes = (process.resourceUsage().maxRSS * 1024) / 1e6
  const sidecars = Math.max(...listArms(summary).map(arm => arm.sidecars.length))
  const page = readFileSync(path.join(folder, 'report.html')).length / 1e6
  const what = `${SERVICES} services (${sidecars} sidecars an arm, 6 trials, a page of ${page.toFixed(1)} MB)`
  const parts = `planned in ${((planned - start) / 1000).toFixed(1)} s, ${rendered} rendered in ${((renderedAt - planned) / 1000).toFixed(1)} s`
  return [
    createFinding(`${what}, ${parts}; seconds in all, below 30`, seconds, [seconds], s => s < 30),
    createFinding('its memory at most, MB, below 1000', megabytes, [megabytes], m => m < 1000),
  ]
}

/**
 * @param {ReturnType<typeof prepareFake>['preparation']} preparation
 * @returns {string} how many configurations, and how large
 */
function renderBothSidecars({ plan, layout, programs }) {
  const nextAddress = createAddressAllocator('127.2')
  const arm = plan.arms[plan.arms.length - 1]
  const topology = createArmTopology(arm, layout.topologies)
  const places = Object.fromEntries(topology.services.map(({ name }) => [name, createPlace(nextAddress())]))
  const [tool] = Object.values(programs.tools)
  const files = [pipy, envoy].flatMap(plane => {
    const { specs } = createSpecs({
      ...{ arm: { ...arm, plane: plane.name }, topology, places, scriptFiles: {}, trafficPolicy: 'open', cpus: 2 },
      programs: {
        ...programs,
        planes: { [plane.name]: plane },
        tools: { [plane.name]: { ...tool, version: '1.5.18' } },
      },
      folders: { process: '/run', scripts: '/scripts', echo: '/echo', certificates: '/certificates' },
      locate: folder => folder,
    })
    return specs.flatMap(spec => spec.files)
  })
  const megabytes = files.reduce((sum, { content }) => sum + content.length, 0) / 1e6
  return `${files.length} configurations (${megabytes.toFixed(1)} MB)`
}

/** The kit's own sampler over processes that sleep, each in a cgroup of its own. @returns {Promise<Finding[]>} */
async function holdTicks() {
  const ledger = openLedger({ runId: `load-${process.pid}` })
  const target = await createLocalTarget({ ledger, way: await findCapWay() })
  const folder = path.join(getScratch(), 'ticks')
  try {
    const { processes } = await target.deploy(
      Array.from({ length: CGROUPS }, (_, i) => createSleepSpec(`sleep-${i}`, folder)),
      { start: 0, folder },
    )
    const startMs = Date.now() + 500
    /** Of the ticks between the edges. @type {{ atMs: number, cpuSeconds: number }[]} */
    const ticks = []
    const { end } = await target.observe(processes, {
      window: { startMs, endMs: startMs + 1000 * TICKS_SECONDS },
      signal,
      onSample({ epochMs, edge }) {
        if (edge || epochMs < startMs) return
        const { user, system } = process.cpuUsage()
        ticks.push({ atMs: epochMs, cpuSeconds: (user + system) / 1e6 })
      },
    })
    if (!end) throw new Error('the window was not read')
    const [first, last] = [ticks[0], ticks[ticks.length - 1]]
    const cores = (last.cpuSeconds - first.cpuSeconds) / ((last.atMs - first.atMs) / 1000)
    const most = Math.max(...ticks.slice(1).map(({ atMs }, i) => atMs - ticks[i].atMs - PERIOD_MS))
    return [
      createFinding(`${CGROUPS} cgroups at 10 Hz, cores of the sampler, below 0.05`, cores, [cores], c => c < 0.05),
      createFinding(`its latest of ${ticks.length} ticks, ms late, at most 100`, most, [most], ms => ms <= 100),
    ]
  } finally {
    await target.close()
  }
}

/**
 * @param {string} service
 * @param {string} folder
 * @returns {import('../../src/model/types.ts').ProcessSpec}
 */
function createSleepSpec(service, folder) {
  return {
    ...{ service, role: 'application', program: '/bin/sleep', argv: ['600'], env: {}, folder, files: [], scripts: [] },
    ...{ credentials: [], listens: [], workers: 0, cpuLimitCores: null, memoryLimitBytes: null, cpuSet: null },
    ...{ admin: null, image: null },
  }
}
