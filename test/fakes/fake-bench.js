import { mkdirSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import net from 'node:net'
import path from 'node:path'
import { createProcess } from '../../src/model/processes.js'
import { createPlace } from '../../src/model/sidecar-contract.js'
import { lookAtProbes, observeProbes } from '../../src/node/observer.js'
import { createProber } from '../../src/node/prober.js'
import { createParityProber } from '../../src/parity/beside/prober.js'
import { createAddressAllocator } from '../../src/targets/local/addresses.js'

/**
 * @import { DataPlane, Handle, LoadGenerator, LoadResult, Probe, ProcessSpec, Reading, Target, Tool, ToolSpec } from '../../src/model/types.ts'
 */

// Test files run beside each other, and so may two runs of all tests.
const NETWORKS = { first: 150, count: 100 }
const LOG = 'the result\n'

/** @type {Tool} */
export const fakeTool = {
  name: 'fake',
  path: '/fake/fake',
  version: '1.0.0',
  sha256: 'f'.repeat(64),
  source: 'fake',
}

/** @param {string} name @param {string} image @returns {ToolSpec} */
function createToolSpec(name, image) {
  return {
    name,
    variable: name.toUpperCase(),
    image,
    versionArgv: [],
    parseVersion: () => '1.0.0',
    wanted: 'any',
    isAccepted: () => true,
  }
}

/** @type {Promise<string> | null} */
let claimed = null

/** Claims addresses `127.n.*.*` that no other process of tests has: it listens at one of them for as long as it lives. */
async function claimNetwork() {
  for (let i = 0; i < NETWORKS.count; i++) {
    const network = `127.${NETWORKS.first + i}`
    const claim = net.createServer().unref()
    const isFree = await new Promise(resolve => {
      claim.once('error', () => resolve(false))
      claim.listen({ host: `${network}.255.254`, port: 20_000, exclusive: true }, () => resolve(true))
    })
    if (isFree) return network
  }
  throw new Error(`${NETWORKS.count} processes of tests have claimed a network each: end those that hang`)
}

/**
 * A plane that renders nothing; its CPU per request is what the fake target charges.
 * @param {string} name @returns {DataPlane}
 */
export function createFakePlane(name) {
  return {
    name,
    tool: createToolSpec(name, `fake/${name}:1`),
    hasVariants: false,
    profiles: [],
    countWorkers: () => null,
    findUnsupported: () => null,
    parseOverflows: null,
    createSidecar: ({ model, folder, cpuLimitCores }) => ({
      ...createSpec(model.service, 'sidecar', folder),
      listens: model.inbound ? [{ address: model.inbound.address, port: model.inbound.port }] : [],
      workers: model.workers,
      cpuLimitCores,
    }),
  }
}

/**
 * A load that ends at once with what `results` says for the trial that runs: by default 1000 verified requests.
 * @param {{ results?: () => Partial<LoadResult> }} [options] @returns {LoadGenerator}
 */
export function createFakeLoad({ results = () => ({}) } = {}) {
  return {
    name: 'fake',
    tool: createToolSpec('fake', 'fake/load:1'),
    scripts: 'bench/k6',
    findUnsupported: () => null,
    countCpus: ({ cpus }) => cpus,
    createGenerator: ({ folder }) => createSpec('fake', 'generator', folder),
    parseWindow: () => ({ startMs: Date.now(), endMs: Date.now() + 2 }),
    readProgress: async () => null,
    parseResult: log =>
      log !== LOG
        ? null
        : {
            ...{ verified: 1000, failed: 0, corrupted: 0, verifiedInSecondHalf: 500, coldUsers: 0, reportedUsers: 10 },
            ...{ dropped: 0, lagP99Ms: null, series: null, failures: [] },
            distribution: { count: 1000, meanMs: 0.02, grid: [0.5, 0.9, 0.95, 0.99, 0.999].map(q => [q, 10 * q]) },
            ...results(),
          },
  }
}

/** A load that interrupts the run in its nth trial; signal: of the run. @param {number} nth */
export function createInterruption(nth) {
  const stop = new AbortController()
  let calls = 0
  const results = () => {
    if (++calls === nth) stop.abort(new Error('interrupted'))
    return {}
  }
  return { load: createFakeLoad({ results }), signal: stop.signal }
}

/**
 * A target whose processes use a set share of a core each, by a clock that stands still but for the readings:
 * every reading is one second after the one before.
 * @param {{ cores?: (spec: ProcessSpec) => number, ending?: (spec: ProcessSpec, isObserved: boolean) => string | null,
 *   cpuLimitCores?: (spec: ProcessSpec) => number | null, isStopped?: (spec: ProcessSpec, isObserved: boolean) => boolean,
 *   isOutOfMemory?: (spec: ProcessSpec) => boolean, findHostLimit?: (spec: ProcessSpec) => string | null, readAdmin?: Handle['readAdmin'],
 *   statusOf?: (request: http.IncomingMessage) => number, readLog?: (spec: ProcessSpec) => string, backends?: string[] }} [options]
 *   isObserved: its window is over, or nearly; statusOf: what its listeners answer with; readLog: what a process printed;
 *   backends: who answers, one after the other
 * @returns {Promise<Target & { running: Set<ProcessSpec>, deployed: ProcessSpec[], mostBesideEachOther: () => number }>}
 *   deployed: all ever; mostBesideEachOther: trials whose services ran at a time
 */
export async function createFakeTarget({
  cores = () => 0.1,
  ending = () => null,
  cpuLimitCores = spec => spec.cpuLimitCores,
  isStopped = () => false,
  isOutOfMemory = () => false,
  findHostLimit = () => null,
  readAdmin = async () => null,
  statusOf = () => 200,
  readLog = () => LOG,
  backends = ['fake'],
} = {}) {
  /** @type {Set<ProcessSpec>} */
  const running = new Set()
  /** @type {WeakSet<ProcessSpec>} */
  const observed = new WeakSet()
  /** @type {ProcessSpec[]} */
  const deployed = []
  let most = 0
  const prober = { ...createProber(), ...createParityProber() }
  claimed ??= claimNetwork()
  const nextAddress = createAddressAllocator(await claimed)
  let ticks = 0
  /** How often each has answered, by its address. @type {Map<string, number>} */
  const served = new Map()
  /** @type {http.RequestListener} */
  const echo = (request, response) => {
    const nonce = request.headers['x-nonce']
    const address = `${request.socket.localAddress}`
    served.set(address, (served.get(address) ?? 0) + 1)
    const servedBy = backends[Number(served.get(address)) % backends.length]
    response.writeHead(statusOf(request), nonce ? { 'x-nonce': nonce, 'x-served-by': servedBy } : {})
    request.pipe(response)
  }
  /** @type {Map<string, http.Server>} */
  const listeners = new Map()

  return {
    name: 'fake',
    running,
    deployed,
    mostBesideEachOther: () => most,
    locate: folder => folder,
    placesFor: async (_start, services) => Object.fromEntries(services.map(name => [name, createPlace(nextAddress())])),
    async deploy(specs, { folder, pace, onStart }) {
      for (const { service, role } of specs.filter(spec => spec.role === 'generator')) {
        mkdirSync(folder, { recursive: true })
        writeFileSync(path.join(folder, `${service}-${role}.log`), LOG)
      }
      deployed.push(...specs)
      for (const spec of specs) running.add(spec)
      most = Math.max(most, new Set([...running].map(spec => /raw\/[^/]+/.exec(spec.folder)?.[0])).size)
      const processes = specs.map(spec =>
        createHandle({
          ...{ spec, cores, cpuLimitCores, readAdmin, readLog },
          ending: () => ending(spec, observed.has(spec)),
          isStopped: () => isStopped(spec, observed.has(spec)),
          isOutOfMemory: () => isOutOfMemory(spec),
          findHostLimit: () => findHostLimit(spec),
        }),
      )
      const remove = async () => {
        for (const spec of specs) {
          running.delete(spec)
          for (const { address, port } of spec.listens) {
            listeners.get(`${address}:${port}`)?.closeAllConnections()
            listeners.get(`${address}:${port}`)?.close()
            listeners.delete(`${address}:${port}`)
          }
        }
      }
      try {
        for (const process of processes) {
          await pace?.()
          for (const { address, port } of process.spec.listens) {
            const listener = http.createServer(echo)
            await new Promise(resolve => listener.listen(port, address, () => resolve(null)))
            listeners.set(`${address}:${port}`, listener)
          }
          onStart?.(process)
        }
      } catch (error) {
        await remove()
        throw error
      }
      return { processes, remove }
    },
    call: async (procedure, args) => /** @type {any} */ (prober)[procedure](args),
    look: async processes => lookAtProbes(probesOf(processes)),
    async observe(processes, { window, ...options }) {
      // The idle machine before a run, of which a moment tells as much as its seconds.
      const endMs = processes.length === 0 ? window.startMs + 10 : window.endMs
      const observation = await observeProbes(probesOf(processes), { window: { ...window, endMs }, ...options })
      for (const { spec } of processes) observed.add(spec)
      const isDead = processes.some(p => p.ending() !== null)
      for (const edge of [observation.start, observation.end]) {
        if (edge) edge.host = { idle: 60 * ++ticks, steal: 0, busy: 40 * ticks, total: 100 * ticks, cpus: 0 }
      }
      return { ...observation, clockOffsetMs: 0, ...(isDead ? { end: null, after: null } : {}) }
    },
    async close() {
      for (const listener of listeners.values()) listener.close()
      return []
    },
  }
}

/** @param {Handle[]} processes */
function probesOf(processes) {
  return processes.map(p => /** @type {any} */ (p).probe)
}

/**
 * @param {{ spec: ProcessSpec, cores: (spec: ProcessSpec) => number, cpuLimitCores: (spec: ProcessSpec) => number | null,
 *   readLog: (spec: ProcessSpec) => string } & Pick<Handle, 'ending' | 'isStopped' | 'isOutOfMemory' | 'findHostLimit' | 'readAdmin'>} options
 * @returns {Handle}
 */
function createHandle({
  spec,
  cores,
  cpuLimitCores,
  ending,
  isStopped,
  isOutOfMemory,
  findHostLimit,
  readAdmin,
  readLog,
}) {
  let seconds = 0
  /** @type {Probe} */
  const probe = {
    /** @returns {Reading} */
    read() {
      seconds++
      return {
        atSeconds: seconds,
        cpuSeconds: seconds * cores(spec),
        ...{ periods: seconds * 10, throttledPeriods: spec.role === 'sidecar' ? seconds * 5 : 0, throttledSeconds: 0 },
        ...{ anonBytes: 1e6, workingSetBytes: 2e6, peakBytes: 3e6, oomKills: 0 },
      }
    },
    readCpuLimitCores: () => cpuLimitCores(spec),
    readThreads: () => [{ id: 1, name: 'main', cpuSeconds: seconds * cores(spec) }],
    readUsage: () => [{ pid: 1, cpuSeconds: seconds * cores(spec), childrenSeconds: 0 }],
    listOutside: () => [],
    readMemory: () => ({ rssBytes: 4e6, pssBytes: 3.5e6 }),
    countListeners: () => spec.workers ?? 1,
    listListening: () => spec.listens,
    countConnections: () => 1,
    identify: () => ['1 since 1'],
    readCpuSet: () => '0-3',
  }
  return /** @type {Handle} */ ({
    spec,
    probe,
    exited:
      spec.role === 'generator' ? new Promise(resolve => setTimeout(resolve, 20, 'status 0')) : new Promise(() => {}),
    ending,
    isOutOfMemory,
    findHostLimit,
    isStopped,
    readAdmin,
    async waitUntilReady() {},
    renderFailure: async what => `${what}; the end of its log: boom`,
    readLog: async () => readLog(spec),
  })
}

/**
 * @param {string} service @param {import('../../src/model/types.ts').Role} role @param {string} folder
 * @returns {ProcessSpec}
 */
function createSpec(service, role, folder) {
  return createProcess({ service, role, folder, program: `/fake/${role}`, argv: [], listens: [], workers: 0 })
}
