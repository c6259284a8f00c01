import { setTimeout as delay } from 'node:timers/promises'
import { BenchError } from '../lib/errors.js'
import { renderPercent } from '../lib/units.js'
import { withAbort } from '../lib/wait.js'
import { computeCpuCores } from '../model/compute-cpu-cores.js'
import { createRequestKind, renderHeaders } from '../model/requests.js'
import { AS_SIDECAR, PORTS } from '../model/sidecar-contract.js'
import { listPeers } from '../node/kernel/sockets.js'
import { assertStillRun } from '../run/alive.js'
import { startServices, withSidecarLogs } from '../run/start-services.js'
import { createCounter, runUnderCallgrind } from './callgrind.js'
import { joinStacks } from './profile.js'
import { createCallCounter, PURPOSES, runUnderStrace, sumCalls } from './strace.js'

/**
 * Counts the instructions that the sidecars of a link execute for a request, and their system calls. Requests come one at a
 * time, so that neither waiting nor other work changes the count.
 * @import { Arm, DataPlane, Handle, ProcessSpec, Target, Tool } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { Started } from '../run/start-services.js'
 * @import { Stack } from './profile.js'
 * @import { Kinds } from './strace.js'
 */

// Pools and caches fill in this share of the requests.
const WARM_UP_SHARE = 0.25
// Under callgrind a request takes 50 times as long.
const ANSWER_SECONDS = 120
// A sidecar in an endless loop takes a CPU for itself, or its share of a busy one; one that waits takes none.
const HANG_SECONDS = 0.2
const HANG_SHARE = 0.2
// Requests that are sent at once: a second, larger burst still opens connections beside those of the first.
const BURSTS = [3, 6]

/**
 * @typedef {{ value: number, counts: number[] }} Count value: the mean of the counts; counts: one for each half of the requests
 * @typedef {Awaited<ReturnType<typeof countCalls>>[number]} CallCount
 */
/**
 * The counts of a sidecar, for one request.
 * @typedef {object} SidecarCount
 * @property {string} link
 * @property {string} service
 * @property {Count} instructions
 * @property {Count | null} handshake the instructions of a new mTLS connection to or from another sidecar; null: none was counted
 * @property {Stack[]} stacks
 */
/**
 * @typedef {object} Counted
 * @property {Testbed} testbed
 * @property {Arm} arm
 * @property {number} start its number
 * @property {string} folder of the processes
 * @property {number} requests an even number
 * @property {AbortSignal} signal
 */
/**
 * @template Taken
 * @typedef {{ start: () => Promise<unknown>, forget: () => Promise<unknown>, take: () => Promise<Taken> }} Counter
 */

/**
 * Counts the instructions of the sidecars of an arm under callgrind.
 * @param {Counted & { valgrind: Tool, callers: number, hasHandshakes: boolean }} options callers: how many callers tell calls of a
 *   function apart; hasHandshakes: new mTLS connections are counted, too
 * @returns {Promise<SidecarCount[]>}
 * @throws {BenchError} if the application does not answer a request, or callgrind fails
 */
export async function countInstructions({ valgrind, callers, hasHandshakes, ...options }) {
  const { arm, requests } = options
  const under = createCallgrindOptions({ valgrind, ...options }, { callers })
  const { sidecars, bursts } = await countSidecars({ ...options, ...under, hasBursts: hasHandshakes })
  return sidecars.map(({ service, halves }, i) => {
    const instructions = toCount(halves.map(({ total }) => total / (requests / 2)))
    const totals = bursts.map(({ taken, ...burst }) => ({ ...burst, total: taken[i].total }))
    const stacks = joinStacks(halves.flatMap(half => half.stacks))
    return {
      link: arm.link,
      service,
      instructions,
      handshake: findHandshake(totals, instructions.value),
      stacks: stacks.map(stack => ({ ...stack, self: stack.self / requests })),
    }
  })
}

/**
 * Counts the system calls of the sidecars of an arm under strace. `kinds` of a sidecar has the calls of a request by name.
 * @param {Counted & { strace: Tool }} options
 * @throws {BenchError} if a request is not answered by the application
 */
export async function countCalls({ strace, ...options }) {
  const { arm, requests } = options
  const { sidecars } = await countSidecars({
    ...options,
    change: spec => runUnderStrace(spec, strace),
    createCounter: createCallCounter,
  })
  return sidecars.map(({ service, halves }) => {
    const countEach = (/** @type {(half: Kinds) => number} */ sum) =>
      toCount(halves.map(half => sum(half) / (requests / 2)))
    const names = new Set(halves.flatMap(half => [...half.keys()]))
    const kinds = [...names].map(name => ({ name, calls: countEach(half => half.get(name)?.calls ?? 0).value }))
    return {
      link: arm.link,
      service,
      calls: countEach(half => sumCalls(half)),
      wakeUps: countEach(half => sumCalls(half, PURPOSES.wait)),
      bytes: countEach(half => [...half.values()].reduce((sum, { bytes }) => sum + bytes, 0)),
      kinds,
    }
  })
}

/**
 * Starts the services of an arm, each sidecar under a counter, and counts while requests come. It returns, of each sidecar, the counts
 * of each half of the requests, and the bursts, of which there are none without `hasBursts`.
 * @template {object} Taken
 * @param {Counted & { hasBursts?: boolean, change: (spec: ProcessSpec) => ProcessSpec,
 *   createCounter: (spec: ProcessSpec) => Counter<Taken> }} options
 */
async function countSidecars({ testbed, requests, hasBursts = false, change, createCounter, ...options }) {
  const services = await startServices({ testbed: withSidecars(testbed, change), ...options })
  const { deployment } = services
  try {
    const specs = deployment.processes.map(({ spec }) => spec).filter(({ role }) => role === 'sidecar')
    const counters = specs.map(createCounter)
    const take = () => Promise.all(counters.map(counter => counter.take()))
    const ask = createAsk({ testbed, ...options, ...services, timeoutSeconds: ANSWER_SECONDS })
    await Promise.all(counters.map(counter => counter.start()))
    await ask(Math.ceil(requests * WARM_UP_SHARE), 1)
    await Promise.all(counters.map(counter => counter.forget()))
    /** @type {Taken[][]} of each half, of each sidecar */
    const halves = []
    for (let i = 0; i < 2; i++) {
      await ask(requests / 2, 1)
      halves.push(await take())
    }
    const inner = specs.flatMap(({ listens }) => listens.filter(({ port }) => port === PORTS.inbound))
    const bursts = hasBursts ? await countBursts({ endpoints: inner, ask, take }) : []
    return { sidecars: specs.map(({ service }, i) => ({ service, halves: halves.map(half => half[i]) })), bursts }
  } finally {
    await deployment.remove()
  }
}

/**
 * Counts while requests that are sent at once make new connections between the sidecars. Of each burst it returns the number of
 * requests and new connections, and what was taken, by sidecar.
 * @template Taken
 * @param {{ endpoints: import('../model/types.ts').Endpoint[], ask: ReturnType<typeof createAsk>, take: () => Promise<Taken[]> }} options
 */
async function countBursts({ endpoints, ask, take }) {
  const list = () => endpoints.flatMap(listPeers)
  const bursts = []
  for (const requests of BURSTS) {
    const before = list()
    await ask(requests, requests)
    // Compare the connections, and not their number: some old ones may have closed meanwhile.
    const connections = list().filter(peer => !before.includes(peer)).length
    bursts.push({ requests, connections, taken: await take() })
  }
  return bursts
}

/**
 * Finds the instructions of a new connection; null if fewer than two bursts made one.
 * @param {{ requests: number, connections: number, total: number }[]} bursts total: instructions of one sidecar
 * @param {number} perRequest instructions
 */
export function findHandshake(bursts, perRequest) {
  const made = bursts.filter(({ connections }) => connections > 0)
  // One count alone does not say how far two are apart.
  if (made.length < 2) return null
  return toCount(made.map(({ requests, connections, total }) => (total - requests * perRequest) / connections))
}

/**
 * Makes a count, whose value is the mean.
 * @param {number[]} counts
 * @returns {Count}
 */
export function toCount(counts) {
  return { value: counts.reduce((sum, count) => sum + count, 0) / counts.length, counts }
}

/**
 * Computes the distance of the lowest and the highest count, as a share of the mean.
 * @param {Count} count
 */
export function computeSpread({ value, counts }) {
  return (Math.max(...counts) - Math.min(...counts)) / value
}

/**
 * Copies a testbed, in which planes make changed sidecars.
 * @param {Testbed} testbed
 * @param {(spec: ProcessSpec) => ProcessSpec} change of a sidecar
 * @returns {Testbed}
 */
export function withSidecars(testbed, change) {
  /** @type {Record<string, DataPlane>} */
  const planes = {}
  for (const [name, plane] of Object.entries(testbed.programs.planes)) {
    const { createSidecar } = plane
    planes[name] = createSidecar ? { ...plane, createSidecar: options => change(createSidecar(options)) } : plane
  }
  return { ...testbed, programs: { ...testbed.programs, planes } }
}

/**
 * Makes the options of `countSidecars` for callgrind.
 * @param {Pick<Counted, 'arm' | 'signal'> & { valgrind: Tool }} options
 * @param {{ callers: number }} how
 */
function createCallgrindOptions({ valgrind, arm, signal }, how) {
  // callgrind answers the user that runs the sidecars, and nobody else.
  const enter = arm.conditions.interception === undefined ? [] : AS_SIDECAR
  return {
    change: (/** @type {ProcessSpec} */ spec) => runUnderCallgrind(spec, { valgrind, ...how }),
    createCounter: (/** @type {ProcessSpec} */ { folder }) => createCounter({ folder, valgrind, enter, signal }),
  }
}

/**
 * Makes a function that sends requests through started services, `atOnce` at a time.
 * @param {{ testbed: Testbed, arm: Arm, timeoutSeconds: number, signal: AbortSignal } & Pick<Started, 'entry' | 'deployment'>} options
 *   timeoutSeconds: that of each answer
 * @returns {(requests: number, atOnce: number, place?: { before?: number, total?: number }) => Promise<void>} it throws BenchError for
 *   a request that the application did not answer, with its number and what the sidecars logged last
 */
export function createAsk({ testbed, arm, entry, deployment, timeoutSeconds, signal }) {
  const { urls, host, request: pipelineRequest } = entry
  const { target } = testbed.site
  const { protocol, hostname: address, port, pathname, search } = new URL(urls[0])
  const credentials = protocol === 'https:' ? entry.certificate : null
  const { requests, payloadBytes = 0 } = arm.load
  const { method, path, requestBytes, requestHeaderBytes, responseBytes } =
    requests?.[0] ?? createRequestKind({}, payloadBytes)
  const usual = { host, method, path, headers: renderHeaders(requestHeaderBytes), body: 'x'.repeat(requestBytes) }
  const urlPath = `${pathname}${search}`
  const ask = pipelineRequest
    ? {
        host,
        method: pipelineRequest.method,
        path: urlPath,
        headers: pipelineRequest.headers,
        body: pipelineRequest.body,
      }
    : { ...usual, ...(urlPath !== '/' && { path: urlPath }) }
  const answer = 'x'.repeat(responseBytes)
  const endpoint = { address, port: Number(port) }
  return async (count, atOnce, place = {}) => {
    const how = { answer, expected: pipelineRequest, timeoutSeconds, requests: count, atOnce, ...place }
    const repeating = target.call('repeat', { endpoint, ask, credentials, ...how })
    await withAbort(repeating, signal).catch(async error => {
      signal.throwIfAborted()
      await assertStillRun(deployment.processes, 'window')
      const explained = await withHanging(error, { target, processes: deployment.processes })
      throw await withSidecarLogs(explained, deployment.processes)
    })
  }
}

/**
 * Adds to the error of a request without an answer which sidecars hang: those that still use CPU, though no request is under way.
 * Other errors are returned as they are.
 * @template {Error} E
 * @param {E} error
 * @param {{ target: Pick<Target, 'look'>, processes: Pick<Handle, 'spec'>[] }} services
 * @returns {Promise<E | BenchError>}
 */
export async function withHanging(error, { target, processes }) {
  if (!(error instanceof BenchError) || !/no answer within/.test(error.message)) return error
  const sidecars = /** @type {Handle[]} */ (processes.filter(({ spec }) => spec.role === 'sidecar'))
  const look = () => target.look(sidecars).catch(() => [])
  const before = await look()
  await delay(1000 * HANG_SECONDS)
  const after = await look()
  const hanging = sidecars.flatMap(({ spec }, i) => {
    const share = computeCpuCores(before[i]?.cpu, after[i]?.cpu) ?? 0
    return share >= HANG_SHARE
      ? [`; ${spec.service}'s sidecar still uses ${renderPercent(share)} of a CPU: does it hang in a loop?`]
      : []
  })
  return new BenchError(`${error.message}${hanging.join('')}`, { cause: error, exitStatus: error.exitStatus })
}
