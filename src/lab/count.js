import { AS_SIDECAR, PORTS } from '../model/sidecar-contract.js'
import { listPeers } from '../node/kernel/sockets.js'
import { startServices } from '../run/start-services.js'
import { createInstructionCounter, wrapInCallgrind } from './callgrind.js'
import { joinStacks } from './profile.js'
import { createRequestSender } from './request-sender.js'
import { createCallCounter, PURPOSES, sumCalls, wrapInStrace } from './strace.js'
import { wrapSidecars } from './wrap-sidecars.js'

/**
 * Counts the instructions that the sidecars of a link execute for a request, and their system calls. Requests come one at a
 * time, so that neither waiting nor other work changes the count.
 * @import { Arm, Endpoint, ProcessSpec, Tool } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { Stack } from './profile.js'
 * @import { CallKinds } from './strace.js'
 */

// Pools and caches fill during this share of the requests.
const WARM_UP_SHARE = 0.25
// Under callgrind a request takes 50 times as long.
const ANSWER_SECONDS = 120
// Requests that are sent at once: a second, larger burst still opens connections beside those of the first.
const BURSTS = [3, 6]

/**
 * @typedef {{ value: number, counts: number[] }} Count value: the mean of the counts; counts: of repeated measurements
 * @typedef {Awaited<ReturnType<typeof countCalls>>[number]} CallCount
 */
/**
 * The counts of a sidecar, for one request.
 * @typedef {object} SidecarCount
 * @property {string} link
 * @property {string} service
 * @property {Count} instructions
 * @property {Count | null} handshake the instructions of a new mTLS connection to or from another sidecar; null: it was not to be
 *   counted, or too few bursts opened one
 * @property {Stack[]} stacks
 */
/**
 * @typedef {object} Counted
 * @property {Testbed} testbed
 * @property {Arm} arm
 * @property {number} start a number that no other start of this run has
 * @property {string} folder of the processes
 * @property {number} requests an even number
 * @property {AbortSignal} signal
 */
/**
 * @template Taken
 * @typedef {{ start: () => Promise<unknown>, reset: () => Promise<unknown>, take: () => Promise<Taken> }} Counter
 */

/**
 * Counts the instructions of the sidecars of an arm under callgrind.
 * @param {Counted & { valgrind: Tool, callers: number, hasHandshakes: boolean }} options callers: the number of
 *   callers by which calls of a function are counted apart; hasHandshakes: new mTLS connections are counted, too
 * @returns {Promise<SidecarCount[]>}
 * @throws {BenchError} if a service does not start, the application does not answer a request, or callgrind fails; the signal's
 *   reason when it aborts
 */
export async function countInstructions({ valgrind, callers, hasHandshakes, ...options }) {
  const { arm, requests } = options
  const counterOptions = createCallgrindOptions({ valgrind, ...options }, { callers })
  const { sidecars, bursts } = await runUnderCounters({ ...options, ...counterOptions, hasBursts: hasHandshakes })
  return sidecars.map(({ service, halves }, i) => {
    const instructions = createCount(halves.map(({ total }) => total / (requests / 2)))
    const totals = bursts.map(({ counts, ...burst }) => ({ ...burst, total: counts[i].total }))
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
 * @throws {BenchError} if a service does not start, or the application does not answer a request; the system's error if strace wrote
 *   no file; the signal's reason when it aborts
 */
export async function countCalls({ strace, ...options }) {
  const { arm, requests } = options
  const { sidecars } = await runUnderCounters({
    ...options,
    wrap: spec => wrapInStrace(spec, strace),
    createCounter: createCallCounter,
  })
  return sidecars.map(({ service, halves }) => {
    const countEach = (/** @type {(half: CallKinds) => number} */ sum) =>
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
 * @template {object} Taken
 * @typedef {object} CounterOptions
 * @property {(spec: ProcessSpec) => ProcessSpec} wrap changes the command of a sidecar so that it can be counted
 * @property {(spec: ProcessSpec) => Counter<Taken>} createCounter creates the counter of a sidecar
 * @property {boolean} [hasBursts] requests are also sent at once; by default they are not
 */

/**
 * Starts the services of an arm, each sidecar under a counter, counts while requests come, and removes them, also after an error.
 * @template {object} Taken
 * @param {Counted & CounterOptions<Taken>} options
 * @returns sidecars: of each, the counts of each half of the requests; bursts: []: without `hasBursts`
 * @throws {BenchError} if a service does not start, the application does not answer a request, or a counter fails; the signal's
 *   reason when it aborts
 */
async function runUnderCounters({ testbed, requests, hasBursts = false, wrap, createCounter, ...options }) {
  const services = await startServices({ testbed: wrapSidecars(testbed, wrap), ...options })
  const { deployment } = services
  try {
    const specs = deployment.processes.map(({ spec }) => spec).filter(({ role }) => role === 'sidecar')
    const counters = specs.map(createCounter)
    const takeCounts = () => Promise.all(counters.map(counter => counter.take()))
    const send = createRequestSender({ testbed, ...options, ...services, timeoutSeconds: ANSWER_SECONDS })
    await Promise.all(counters.map(counter => counter.start()))
    await send(Math.ceil(requests * WARM_UP_SHARE), 1)
    await Promise.all(counters.map(counter => counter.reset()))
    /** @type {Taken[][]} of each half, of each sidecar */
    const halves = []
    for (let i = 0; i < 2; i++) {
      await send(requests / 2, 1)
      halves.push(await takeCounts())
    }
    const endpoints = specs.flatMap(({ listens }) => listens.filter(({ port }) => port === PORTS.inbound))
    const bursts = hasBursts ? await measureBursts({ endpoints, send, takeCounts }) : []
    return { sidecars: specs.map(({ service }, i) => ({ service, halves: halves.map(half => half[i]) })), bursts }
  } finally {
    await deployment.remove()
  }
}

/**
 * Sends BURSTS one after the other, the requests of each at once, and counts the connections that each opens between the sidecars, and
 * what the sidecars execute meanwhile.
 * @template Taken
 * @param {{ endpoints: Endpoint[], send: ReturnType<typeof createRequestSender>, takeCounts: () => Promise<Taken[]> }} options
 *   endpoints: the inbound ones of the sidecars; send: sends requests; takeCounts: reads the counts of all sidecars
 * @returns of each burst: requests, connections: their numbers; counts: by sidecar
 * @throws as `runUnderCounters`
 */
async function measureBursts({ endpoints, send, takeCounts }) {
  const listConnections = () => endpoints.flatMap(listPeers)
  const bursts = []
  for (const requests of BURSTS) {
    const earlierConnections = listConnections()
    await send(requests, requests)
    // Compare the connections, and not their number: some old ones may have closed meanwhile.
    const connections = listConnections().filter(peer => !earlierConnections.includes(peer)).length
    bursts.push({ requests, connections, counts: await takeCounts() })
  }
  return bursts
}

/**
 * Computes the instructions of a new connection: those of a burst, without those of its requests, for each connection that it opened.
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
 * Creates a count from those of repeated measurements.
 * @param {number[]} counts at least one
 * @returns {Count} value: the mean
 */
export function createCount(counts) {
  return { value: counts.reduce((sum, count) => sum + count, 0) / counts.length, counts }
}

/**
 * Computes the distance between the lowest and the highest count.
 * @param {Count} count
 * @returns {number} a fraction of the mean; NaN: all counts are 0
 */
export function computeSpread({ value, counts }) {
  return (Math.max(...counts) - Math.min(...counts)) / value
}

/**
 * Creates the options of `runUnderCounters` for callgrind.
 * @param {Pick<Counted, 'arm' | 'signal'> & { valgrind: Tool }} options
 * @param {{ callers: number }} counting callers: the number of callers by which calls of a function are counted apart
 */
function createCallgrindOptions({ valgrind, arm, signal }, counting) {
  // callgrind answers only the user that runs the sidecars.
  const enter = arm.conditions.interception === undefined ? [] : AS_SIDECAR
  return {
    wrap: (/** @type {ProcessSpec} */ spec) => wrapInCallgrind(spec, { valgrind, ...counting }),
    createCounter: (/** @type {ProcessSpec} */ { folder }) =>
      createInstructionCounter({ folder, valgrind, enter, signal }),
  }
}
