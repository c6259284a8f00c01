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

// Pools and caches fill during this share of the requests.
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
 * @param {Counted & { valgrind: Tool, callers: number, hasHandshakes: boolean }} options callers: the number of
 *   callers by which calls of a function are counted apart; hasHandshakes: new mTLS connections are counted, too
 * @returns {Promise<SidecarCount[]>}
 * @throws {BenchError} if the application does not answer a request, or callgrind fails
 */
export async function countInstructions({ valgrind, callers, hasHandshakes, ...options }) {
  const { arm, requests } = options
  const counterOptions = createCallgrindOptions({ valgrind, ...options }, { callers })
  const { sidecars, bursts } = await countSidecars({ ...options, ...counterOptions, hasBursts: hasHandshakes })
  return sidecars.map(({ service, halves }, i) => {
    const instructions = createCount(halves.map(({ total }) => total / (requests / 2)))
    const totals = bursts.map(({ taken, ...burst }) => ({ ...burst, total: taken[i].total }))
    const stacks = joinStacks(halves.flatMap(half => half.stacks))
    return {
      link: arm.link,
      service,
      instructions,
      handshake: computeHandshake(totals, instructions.value),
      stacks: stacks.map(stack => ({ ...stack, self: stack.self / requests })),
    }
  })
}

/**
 * Counts the system calls of the sidecars of an arm under strace.
 * @param {Counted & { strace: Tool }} options
 * @returns of each sidecar: calls, wakeUps, bytes: of a request; kinds: its system calls by name
 * @throws {BenchError} if the application does not answer a request
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
      createCount(halves.map(half => sum(half) / (requests / 2)))
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
 * Starts the services of an arm, each sidecar under a counter, and counts while requests come.
 * @template {object} Taken
 * @param {Counted & { hasBursts?: boolean, change: (spec: ProcessSpec) => ProcessSpec, createCounter: (spec:
 *   ProcessSpec) => Counter<Taken> }} options hasBursts: requests are sent at once, too; change: changes the command
 *   of a sidecar; createCounter: creates its counter
 * @returns sidecars: of each, the counts of each half of the requests; bursts: []: without `hasBursts`
 * @throws {BenchError} if the application does not answer a request, or a counter fails
 */
async function countSidecars({ testbed, requests, hasBursts = false, change, createCounter, ...options }) {
  const services = await startServices({ testbed: withSidecars(testbed, change), ...options })
  const { deployment } = services
  try {
    const specs = deployment.processes.map(({ spec }) => spec).filter(({ role }) => role === 'sidecar')
    const counters = specs.map(createCounter)
    const take = () => Promise.all(counters.map(counter => counter.take()))
    const ask = createRequestSender({ testbed, ...options, ...services, timeoutSeconds: ANSWER_SECONDS })
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
 * Counts while requests that are sent at once open new connections between the sidecars.
 * @template Taken
 * @param {{ endpoints: import('../model/types.ts').Endpoint[], ask: ReturnType<typeof createRequestSender>, take: () =>
 *   Promise<Taken[]> }} options endpoints: the inbound ones of the sidecars; ask: sends requests; take: reads the
 *   counts of all sidecars
 * @returns of each burst: requests, connections: their numbers; taken: the counts by sidecar
 */
async function countBursts({ endpoints, ask, take }) {
  const listConnections = () => endpoints.flatMap(listPeers)
  const bursts = []
  for (const requests of BURSTS) {
    const earlierConnections = listConnections()
    await ask(requests, requests)
    // Compare the connections, and not their number: some old ones may have closed meanwhile.
    const connections = listConnections().filter(peer => !earlierConnections.includes(peer)).length
    bursts.push({ requests, connections, taken: await take() })
  }
  return bursts
}

/**
 * Computes the instructions of a new connection.
 * @param {{ requests: number, connections: number, total: number }[]} bursts total: instructions of one sidecar
 * @param {number} perRequest instructions of a request
 * @returns {Count | null} null: fewer than two bursts opened one
 */
export function computeHandshake(bursts, perRequest) {
  const opening = bursts.filter(({ connections }) => connections > 0)
  // One count alone does not show how much counts vary.
  if (opening.length < 2) return null
  return createCount(opening.map(({ requests, connections, total }) => (total - requests * perRequest) / connections))
}

/**
 * Creates a count from its parts.
 * @param {number[]} counts at least one
 * @returns {Count} value: the mean
 */
export function createCount(counts) {
  return { value: counts.reduce((sum, count) => sum + count, 0) / counts.length, counts }
}

/**
 * Computes the distance between the lowest and the highest count.
 * @param {Count} count
 * @returns {number} a fraction of the mean
 */
export function computeSpread({ value, counts }) {
  return (Math.max(...counts) - Math.min(...counts)) / value
}

/**
 * Copies a testbed, and changes the sidecars that its planes create.
 * @param {Testbed} testbed
 * @param {(spec: ProcessSpec) => ProcessSpec} change changes the process of a sidecar
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
 * Creates the options of `countSidecars` for callgrind.
 * @param {Pick<Counted, 'arm' | 'signal'> & { valgrind: Tool }} options
 * @param {{ callers: number }} counting callers: the number of callers by which calls of a function are counted apart
 * @returns {{ change: (spec: ProcessSpec) => ProcessSpec, createCounter: (spec: ProcessSpec) => ReturnType<typeof
 *   createCounter> }}
 */
function createCallgrindOptions({ valgrind, arm, signal }, counting) {
  // callgrind answers only the user that runs the sidecars.
  const enter = arm.conditions.interception === undefined ? [] : AS_SIDECAR
  return {
    change: (/** @type {ProcessSpec} */ spec) => runUnderCallgrind(spec, { valgrind, ...counting }),
    createCounter: (/** @type {ProcessSpec} */ { folder }) => createCounter({ folder, valgrind, enter, signal }),
  }
}

/**
 * Creates a function that sends requests through started services.
 * @param {{ testbed: Testbed, arm: Arm, timeoutSeconds: number, signal: AbortSignal } & Pick<Started, 'entry' |
 *   'deployment'>} options timeoutSeconds: of each answer
 * @returns {(requests: number, atOnce: number, place?: { before?: number, total?: number }) => Promise<void>} atOnce:
 *   the number of concurrent requests; place: for errors, the number of requests before these, and of all. It throws
 *   BenchError for a request that the application did not answer, with its number and the last lines that the
 *   sidecars logged
 */
export function createRequestSender({ testbed, arm, entry, deployment, timeoutSeconds, signal }) {
  const { urls, host, request: pipelineRequest } = entry
  const { target } = testbed.site
  const { protocol, hostname: address, port, pathname, search } = new URL(urls[0])
  const credentials = protocol === 'https:' ? entry.certificate : null
  const { requests, payloadBytes = 0 } = arm.load
  const { method, path, requestBytes, requestHeaderBytes, responseBytes } =
    requests?.[0] ?? createRequestKind({}, payloadBytes)
  const kitRequest = { host, method, path, headers: renderHeaders(requestHeaderBytes), body: 'x'.repeat(requestBytes) }
  const urlPath = `${pathname}${search}`
  const ask = pipelineRequest
    ? {
        host,
        method: pipelineRequest.method,
        path: urlPath,
        headers: pipelineRequest.headers,
        body: pipelineRequest.body,
      }
    : { ...kitRequest, ...(urlPath !== '/' && { path: urlPath }) }
  const answer = 'x'.repeat(responseBytes)
  const endpoint = { address, port: Number(port) }
  return async (count, atOnce, place = {}) => {
    const repetition = { answer, expected: pipelineRequest, timeoutSeconds, requests: count, atOnce, ...place }
    const repeating = target.call('repeat', { endpoint, ask, credentials, ...repetition })
    await withAbort(repeating, signal).catch(async error => {
      signal.throwIfAborted()
      await assertStillRun(deployment.processes, 'window')
      const explainedError = await addHangingSidecars(error, { target, processes: deployment.processes })
      throw await withSidecarLogs(explainedError, deployment.processes)
    })
  }
}

/**
 * Adds to the error of an unanswered request which sidecars hang: those that still use CPU, though no request is
 * under way.
 * @template {Error} E
 * @param {E} error
 * @param {{ target: Pick<Target, 'look'>, processes: Pick<Handle, 'spec'>[] }} services
 * @returns {Promise<E | BenchError>} any other error is returned unchanged
 */
export async function addHangingSidecars(error, { target, processes }) {
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
