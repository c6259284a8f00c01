import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { hashText } from '../../lib/hash.js'
import { PORTS, PROBER } from '../../sidecar-contract.js'
import { collectAgentCode } from './code.js'
import { createHandle } from './container.js'
import {
  LABELS,
  MANAGER,
  renderDeployment,
  renderFiles,
  renderJob,
  renderNamespace,
  renderProber,
  renderReader,
  renderService,
  renderTestRun,
} from './manifests.js'
import { watchPods } from './pod-watch.js'
import { findObstacle, isReady } from './pod-status.js'
import { measureClockOffset, openSession } from './session.js'

/**
 * @import { Deployment, Handle, Observation, Place, ProcessSpec, Target } from '../../types.ts'
 * @import { Api } from './api.js'
 * @import { ContainerHandle } from './container.js'
 * @import { Container, Where } from './manifests.js'
 * @import { Session } from './session.js'
 */

const READER = 'reader'
const KIT = '/bench/kit'
const OWN_POD_SECONDS = 120
const GONE_SECONDS = 60
const CLOSE_SECONDS = 60
const TICK_MS = 100

/**
 * @typedef {object} ClusterOptions
 * @property {Api} api
 * @property {string} runId
 * @property {string} namespace of the services; that of the reader is named after it
 * @property {Where} where the services go
 * @property {Where} loadWhere
 * @property {string} nodeImage of the kit's own pods
 * @property {boolean} hasNativeSidecars
 * @property {number | null} generators null: one, in a Job; otherwise so many, by the k6 operator
 */

/**
 * Runs every service in a pod: its namespaces are made at the first need, and go with `close`.
 * @param {ClusterOptions} options
 * @returns {Target & { open: () => Promise<void>, namespace: string, watch: () => import('./pod-watch.js').PodWatch }}
 */
export function createKubernetesTarget({ api, runId, namespace, where, loadWhere, nodeImage, hasNativeSidecars, generators }) {
  const readerNamespace = `${namespace}-reader`
  const labels = { [LABELS.managed]: MANAGER, [LABELS.run]: runId }
  /** Where processes see folders of this machine. @type {Map<string, string>} */
  const folders = new Map()
  /** @type {Map<string, Promise<Session>>} */
  const sessions = new Map()
  /** @type {Set<string>} */
  const applied = new Set()
  let starts = 0
  /** @type {ReturnType<typeof watchPods> | null} */
  let watching = null
  /** @type {Promise<void> | null} */
  let opening = null
  const pods = () => /** @type {ReturnType<typeof watchPods>} */ (watching)

  const open = () => (opening ??= openNamespaces())

  async function openNamespaces() {
    await createNamespace(namespace, 'restricted')
    await createNamespace(readerNamespace, 'privileged')
    watching = watchPods({ api, namespaces: [namespace, readerNamespace] })
    const files = collectAgentCode()
    const folder = { path: KIT, configMap: 'kit', names: Object.keys(files) }
    for (const at of [namespace, readerNamespace]) await api.apply(renderFiles({ name: 'kit', namespace: at, labels, files }))
    await api.apply(renderProber({ name: PROBER, namespace, labels, image: nodeImage, folder, where }))
    const common = { name: READER, namespace: readerNamespace, labels, image: nodeImage, folder }
    await api.apply(renderReader({ ...common, wheres: [where, loadWhere] }))
    await waitForOwnPod(PROBER)
    await waitForOwnPod(READER)
  }

  /**
   * @param {string} name
   * @param {'restricted' | 'privileged'} level
   */
  async function createNamespace(name, level) {
    try {
      await api.create(renderNamespace({ name, runId, level }))
    } catch (error) {
      if (/** @type {any} */ (error).code !== 409) throw error
      throw new BenchError(
        `the namespace ${name} is already there: give --namespace another, or remove what a killed run left with: npm run cleanup -- --target kubernetes`,
        { cause: error },
      )
    }
    created.push(name)
  }
  /** @type {string[]} */
  const created = []

  /** @param {string} name of the prober or the reader: until one of its pods is ready */
  async function waitForOwnPod(name) {
    const own = () => pods().find({ [LABELS.service]: name })
    let stuckSince = Number.POSITIVE_INFINITY
    const settle = () => {
      if (own().some(isReady)) return 'ready'
      const obstacle = own().map(findObstacle).find(Boolean)
      stuckSince = obstacle ? Math.min(stuckSince, performance.now()) : Number.POSITIVE_INFINITY
      return obstacle && (obstacle.isFinal || performance.now() - stuckSince > 10_000) ? obstacle.why : null
    }
    const deadline = performance.now() + OWN_POD_SECONDS * 1000
    while (performance.now() < deadline) {
      const state = await pods().until(settle, { deadlineSeconds: 2 })
      if (state === 'ready') return
      const why = state ?? (own().length === 0 ? await findRefusal(name === READER ? readerNamespace : namespace, name) : null)
      if (why) throw new BenchError(`the kit's own pod ${name} does not start: ${why}`)
    }
    throw new BenchError(`the kit's own pod ${name} was not ready within ${OWN_POD_SECONDS} s`)
  }

  /**
   * Why what should make a pod makes none: a quota, a policy, a webhook.
   * @param {string} at
   * @param {string} name
   */
  async function findRefusal(at, name) {
    const events = await api.list('v1', 'Event', { namespace: at })
    const refused = events.filter(e => e.type === 'Warning' && e.reason === 'FailedCreate' && e.involvedObject?.name?.startsWith(name))
    return refused.at(-1)?.message ?? null
  }

  /**
   * The agent in the prober, or in the reader of a node.
   * @param {string} name
   * @param {string | null} node null: any
   */
  async function sessionOf(name, node) {
    await open()
    const ready = pods().find({ [LABELS.service]: name }).filter(isReady)
    const pod = ready.find(p => node === null || p.spec?.nodeName === node)
    if (!pod) {
      const there = pods().find({ [LABELS.service]: name }).find(p => p.spec?.nodeName === node)
      const why = there ? (findObstacle(there)?.why ?? 'its pod is not ready') : 'it has no pod there'
      throw new BenchError(`the ${name} is missing on ${node ?? 'every node'}: ${why}`)
    }
    const key = `${pod.metadata?.uid}`
    const kept = sessions.get(key)
    if (kept && (await kept.catch(() => null))?.isOpen()) return kept
    const at = `${pod.metadata?.namespace}`
    const session = openSession({ api, namespace: at, pod: `${pod.metadata?.name}`, container: name, folder: KIT })
    sessions.set(key, session)
    return session
  }

  /**
   * The containers of a process's node together, each with its place among all.
   * @param {Handle[]} processes
   */
  function groupByNode(processes) {
    /** @type {Map<string | null, { watched: ReturnType<ContainerHandle['watched']>[], places: number[] }>} */
    const nodes = new Map()
    for (const [i, process] of processes.entries()) {
      const watched = /** @type {ContainerHandle} */ (process).watched()
      const group = nodes.get(watched.node) ?? { watched: [], places: [] }
      group.watched.push(watched)
      group.places.push(i)
      nodes.set(watched.node, group)
    }
    // Nothing to watch is to watch the machine of the services.
    if (nodes.size === 0) nodes.set(null, { watched: [], places: [] })
    return nodes
  }

  /**
   * @param {string} source a folder of this machine, or a file in it
   */
  const locate = source => {
    const known = folders.get(source)
    if (known) return known
    const taken = new Set(folders.values())
    const base = `/bench/${path.basename(source)}`
    let at = base
    for (let n = 2; taken.has(at) || at === KIT; n++) at = `${base}-${n}`
    folders.set(source, at)
    return at
  }

  /** @param {string} located */
  const sourceOf = located => {
    for (const [source, at] of folders) if (at === located) return source
    throw new Error(`nothing is at ${located}`)
  }

  /**
   * The scripts of a folder, as a ConfigMap: once a run, named after its content.
   * @param {string} located
   */
  async function applyScripts(located) {
    const files = readTextFiles(sourceOf(located))
    const name = `scripts-${hashText(JSON.stringify(files)).slice(0, 10)}`
    if (!applied.has(name)) {
      await api.apply(renderFiles({ name, namespace, labels, files }))
      applied.add(name)
    }
    return { path: located, configMap: name, names: Object.keys(files) }
  }

  /**
   * What a process sees: its scripts, its rendered files, its credentials.
   * @param {ProcessSpec} spec
   * @param {{ name: string, start: string, folder: string }} at
   * @returns {Promise<Container>}
   */
  async function applyFolders(spec, { name, start, folder }) {
    const own = { ...labels, [LABELS.start]: start }
    /** @type {Container['folders']} */
    const seen = []
    for (const located of spec.scripts) seen.push(await applyScripts(located))
    if (spec.files.length > 0) {
      const files = Object.fromEntries(spec.files.map(f => [f.name, f.content]))
      await api.apply(renderFiles({ name, namespace, labels: own, files }))
      seen.push({ path: spec.folder, configMap: name, names: Object.keys(files) })
      const kept = path.join(folder, spec.service)
      mkdirSync(kept, { recursive: true })
      for (const [file, text] of Object.entries(files)) writeFileSync(path.join(kept, file), text)
    }
    if (spec.credentials.length > 0) {
      const at = path.posix.dirname(spec.credentials[0])
      const source = sourceOf(at)
      const names = spec.credentials.map(file => path.posix.basename(file))
      const files = Object.fromEntries(names.map(file => [file, readFileSync(path.join(source, file), 'utf8')]))
      await api.apply(renderFiles({ name, namespace, labels: own, files, isSecret: true }))
      seen.push({ path: at, secret: name, names })
    }
    return { spec, folders: seen }
  }

  /** @type {Target} */
  const target = {
    name: 'kubernetes',
    locate,

    async placesFor(_, services) {
      await open()
      const start = `${++starts}`
      const own = { ...labels, [LABELS.start]: start }
      const ports = [PORTS.application, PORTS.outbound, PORTS.inbound]
      const made = await Promise.all(
        services.map(service =>
          api.apply(renderService({ service, name: `${service}-${start}`, namespace, labels: own, ports })),
        ),
      )
      const prober = pods().find({ [LABELS.service]: PROBER }).find(isReady)
      /** @type {(reach: string) => Place} */
      const placeAt = reach => ({ reach, listen: '0.0.0.0', inside: '127.0.0.1' })
      return {
        ...Object.fromEntries(services.map((name, i) => [name, placeAt(/** @type {any} */ (made[i]).spec.clusterIP)])),
        [PROBER]: placeAt(`${prober?.status?.podIP}`),
      }
    },

    async deploy(specs, folder) {
      await open()
      const isLoad = specs.every(spec => spec.role === 'generator')
      const start = isLoad ? `${++starts}` : `${starts}`
      const own = { ...labels, [LABELS.start]: start }
      const names = [...new Set(specs.map(spec => spec.service))]
      /** @type {ContainerHandle[]} */
      const processes = []
      /** @type {Deployment} */
      const deployment = {
        processes,
        remove: () => removeStart({ start, processes }),
      }
      try {
        await Promise.all(
          names.map(async service => {
            const name = `${service}-${start}`
            const group = specs.filter(spec => spec.service === service)
            const containers = await Promise.all(group.map(spec => applyFolders(spec, { name, start, folder })))
            const common = { service, name, namespace, labels: own }
            if (!isLoad) await api.apply(renderDeployment({ ...common, containers, where, hasNativeSidecars }))
            else if (generators === null) await api.apply(renderJob({ ...common, container: containers[0], where: loadWhere }))
            else await api.apply(renderTestRun({ ...common, container: containers[0], where: loadWhere, generators }))
          }),
        )
        for (const spec of specs) {
          for (let nth = 0; nth < (isLoad ? (generators ?? 1) : 1); nth++) {
            const findObstacles = () => findRefusal(namespace, `${spec.service}-${start}`)
            processes.push(createHandle({ api, pods: pods(), namespace, spec, start, nth, folder, findObstacles }))
          }
        }
        if (isLoad) await waitForContainers(processes)
        return deployment
      } catch (error) {
        await deployment.remove()
        throw error
      }
    },

    async call(procedure, args) {
      const session = await sessionOf(PROBER, null)
      return session.call(procedure, args).then(result => /** @type {any} */ (result))
    },

    async look(processes) {
      /** @type {any[]} */
      const looks = []
      for (const [node, { watched, places }] of groupByNode(processes)) {
        const session = await sessionOf(READER, node)
        const seen = await session.call('look', { watched })
        for (const [i, place] of places.entries()) looks[place] = /** @type {any[]} */ (seen)[i]
      }
      return looks
    },

    async observe(processes, { window, signal }) {
      const nodes = [...groupByNode(processes)]
      const seen = await Promise.all(
        nodes.map(async ([node, { watched, places }]) => {
          const session = await sessionOf(READER, node)
          const offsetMs = await measureClockOffset(session)
          /** @type {Omit<Observation, 'clockOffsetMs'>} */
          const observation = await session.call('observe', { watched, window }, { signal })
          return { places, offsetMs, observation }
        }),
      )
      return mergeObservations(seen, { processes })
    },

    async close({ retain } = { retain: false }) {
      for (const session of sessions.values()) session.then(s => s.close()).catch(() => {})
      watching?.close()
      if (retain) return created.map(name => `the namespace ${name}`)
      await removeNamespaces(created)
      return []
    },
  }
  return { ...target, open, namespace, watch: pods }

  /**
   * Waits until every pod of a load has a container with an id.
   * @param {ContainerHandle[]} processes
   */
  async function waitForContainers(processes) {
    const start = performance.now()
    const isThere = () => {
      try {
        for (const process of processes) process.watched()
        return true
      } catch {
        return null
      }
    }
    let stuckSince = Number.POSITIVE_INFINITY
    while (performance.now() - start < OWN_POD_SECONDS * 1000) {
      if (await pods().until(isThere, { deadlineSeconds: 2 })) return
      const [first] = processes
      const own = pods().find({ [LABELS.service]: first.spec.service, [LABELS.start]: `${starts}` })
      const obstacle = own.map(findObstacle).find(Boolean)
      stuckSince = obstacle ? Math.min(stuckSince, performance.now()) : Number.POSITIVE_INFINITY
      if (obstacle && (obstacle.isFinal || performance.now() - stuckSince > 8000)) throw new BenchError(`the load does not start: ${obstacle.why}`)
      const why = own.length === 0 ? await findRefusal(namespace, `${first.spec.service}-${starts}`) : null
      if (why) throw new BenchError(`the load does not start: ${why}`)
    }
    throw new BenchError(`the load generator had no container within ${OWN_POD_SECONDS} s`)
  }

  /**
   * Removes everything of one start, and waits until its pods are gone.
   * @param {{ start: string, processes: ContainerHandle[] }} options
   */
  async function removeStart({ start, processes }) {
    await Promise.all(processes.map(p => p.saveLog()))
    const kinds = [
      ['apps/v1', 'Deployment'],
      ['batch/v1', 'Job'],
      ['v1', 'Service'],
      ['v1', 'ConfigMap'],
      ['v1', 'Secret'],
      ...(generators === null ? [] : [['k6.io/v1alpha1', 'TestRun']]),
    ]
    await Promise.all(
      kinds.map(async ([apiVersion, kind]) => {
        const found = await api.list(apiVersion, kind, { namespace, labels: `${LABELS.start}=${start}` })
        await Promise.all(found.map(object => api.remove({ ...object, apiVersion, kind })))
      }),
    )
    const isGone = () => pods().find({ [LABELS.start]: start }).length === 0
    if (!(await pods().until(isGone, { deadlineSeconds: GONE_SECONDS }))) {
      throw new BenchError(`the pods of ${processes.map(p => p.spec.service).join(' and ')} were not gone within ${GONE_SECONDS} s`)
    }
  }

  /** @param {string[]} names */
  async function removeNamespaces(names) {
    for (const name of names) {
      await api.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } })
    }
    const deadline = performance.now() + CLOSE_SECONDS * 1000
    for (const name of names) {
      while ((await api.read('v1', 'Namespace', name)) !== null) {
        if (performance.now() > deadline) throw new BenchError(`the namespace ${name} is still going after ${CLOSE_SECONDS} s`)
        await new Promise(resolve => setTimeout(resolve, 200))
      }
    }
  }
}

/**
 * One observation of those of several nodes: samples of the same round moment are one sample; the host is that of the
 * first sidecar or application; the clocks are compared with that of the load's node.
 * @param {{ places: number[], offsetMs: number, observation: Omit<Observation, 'clockOffsetMs'> }[]} seen
 * @param {{ processes: Pick<Handle, 'spec'>[] }} options
 * @returns {Observation}
 */
export function mergeObservations(seen, { processes }) {
  const isLoad = (/** @type {number} */ place) => processes[place].spec.role === 'generator'
  const main = seen.find(({ places }) => places.some(place => !isLoad(place))) ?? seen[0]
  const load = seen.find(({ places }) => places.some(isLoad)) ?? main
  const offsets = seen.map(({ offsetMs }) => offsetMs - load.offsetMs)
  const clockOffsetMs = offsets.reduce((worst, ms) => (Math.abs(ms) > Math.abs(worst) ? ms : worst), 0)
  if (seen.length === 1) return { ...main.observation, clockOffsetMs }

  /** @type {(lists: (any[] | null | undefined)[]) => any[]} */
  const place = lists => {
    /** @type {any[]} */
    const all = []
    for (const [n, { places }] of seen.entries()) for (const [i, at] of places.entries()) all[at] = lists[n]?.[i]
    return all
  }
  const byTick = seen.map(({ observation }) => new Map(observation.samples.map(s => [tickOf(s), s])))
  const samples = main.observation.samples
    .filter(sample => byTick.every(ticks => ticks.has(tickOf(sample))))
    .map(sample => ({ ...sample, readings: place(byTick.map(ticks => ticks.get(tickOf(sample))?.readings)) }))
  const merge = (/** @type {'start' | 'end'} */ which) => {
    const edges = seen.map(({ observation }) => observation[which])
    const own = main.observation[which]
    if (own === null || edges.includes(null)) return null
    const sample = { ...own.sample, readings: place(edges.map(e => e?.sample.readings)) }
    return { ...own, sample, states: place(edges.map(e => e?.states)) }
  }
  const after = seen.every(({ observation }) => observation.after) ? place(seen.map(s => s.observation.after)) : null
  return { samples, start: merge('start'), end: merge('end'), after, clockOffsetMs }
}

/** @param {{ epochMs: number, edge?: string }} sample */
function tickOf({ epochMs, edge }) {
  return edge ?? Math.round(epochMs / TICK_MS)
}

/**
 * @param {string} folder
 * @returns {Record<string, string>} by path below it
 */
function readTextFiles(folder) {
  return Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter(entry => entry.isFile())
      .map(entry => {
        const file = path.join(entry.parentPath, entry.name)
        return [path.relative(folder, file).split(path.sep).join('/'), readFileSync(file, 'utf8')]
      })
      .sort(),
  )
}
