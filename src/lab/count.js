import http from 'node:http'
import { BenchError } from '../lib/errors.js'
import { PORTS } from '../model/sidecar-contract.js'
import { listPeers } from '../node/kernel/sockets.js'
import { send } from '../node/send.js'
import { startServices } from '../run/start-services.js'
import { createCounter, runUnderCallgrind } from './callgrind.js'
import { joinStacks } from './profile.js'

/**
 * Counts the instructions that the sidecars of a link execute for a request. Requests come one at a time, so that
 * neither waiting nor other work changes the count.
 * @import { Arm, DataPlane, ProcessSpec, Tool } from '../model/types.ts' @import { Testbed } from '../run/kind.js'
 * @import { Profile, Stack } from './profile.js'
 */

// Pools and caches fill in this share of the requests.
const WARM_UP_SHARE = 0.25
// callgrind makes a request 50 times as long.
const ANSWER_SECONDS = 120
// Requests at a time: a second, larger burst still opens connections beside those that the first one left.
const BURSTS = [3, 6]

/**
 * Instructions and stacks are of a request. value: mean of the counts; handshake: instructions of a new mTLS connection to
 * or from another sidecar; null: none was counted.
 * @typedef {{ value: number, counts: number[] }} Count
 * @typedef {{ link: string, service: string, instructions: Count, handshake: Count | null, stacks: Stack[] }} SidecarCount
 */

/**
 * Starts the services of an arm under callgrind and counts their instructions.
 * @param {{ testbed: Testbed, arm: Arm, start: number, folder: string, valgrind: Tool, callers: number,
 *   requests: number, hasHandshakes: boolean, signal: AbortSignal }} options folder: of the processes
 * @returns {Promise<SidecarCount[]>} @throws {BenchError} when a request is not answered by the application, or callgrind fails
 */
export async function countInstructions({ testbed, valgrind, callers, requests, hasHandshakes, ...given }) {
  const { arm, signal } = given
  const counted = withSidecars(testbed, spec => runUnderCallgrind(spec, { valgrind, callers }))
  const { deployment, entry } = await startServices({ testbed: counted, ...given })
  try {
    const specs = deployment.processes.map(({ spec }) => spec).filter(({ role }) => role === 'sidecar')
    const counters = specs.map(spec => createCounter({ folder: spec.folder, valgrind, signal }))
    const take = () => Promise.all(counters.map(counter => counter.take()))
    const ask = createAsk({ entry, payloadBytes: arm.load.payloadBytes, signal })
    await Promise.all(counters.map(counter => counter.start()))
    const half = Math.ceil(requests / 2)
    await ask(Math.ceil(requests * WARM_UP_SHARE), 1)
    await Promise.all(counters.map(counter => counter.forget()))
    /** @type {Profile[][]} of each half, of each sidecar */
    const halves = []
    for (let i = 0; i < 2; i++) {
      await ask(half, 1)
      halves.push(await take())
    }
    const inner = specs.flatMap(({ listens }) => listens.filter(({ port }) => port === PORTS.inbound))
    const bursts = hasHandshakes ? await countBursts({ endpoints: inner, ask, take }) : []
    return specs.map(({ service }, i) => {
      const instructions = toCount(halves.map(profiles => profiles[i].total / half))
      const totals = bursts.map(({ profiles, ...burst }) => ({ ...burst, total: profiles[i].total }))
      const stacks = joinStacks(halves.flatMap(profiles => profiles[i].stacks))
      return {
        link: arm.link,
        service,
        instructions,
        handshake: findHandshake(totals, instructions.value),
        stacks: stacks.map(stack => ({ ...stack, self: stack.self / (2 * half) })),
      }
    })
  } finally {
    await deployment.remove()
  }
}

/**
 * Counts while requests that come at once make new connections between the sidecars.
 * @param {{ endpoints: import('../model/types.ts').Endpoint[], ask: ReturnType<typeof createAsk>, take: () => Promise<Profile[]> }} options
 */
async function countBursts({ endpoints, ask, take }) {
  const list = () => endpoints.flatMap(listPeers)
  const bursts = []
  for (const requests of BURSTS) {
    const before = list()
    await ask(requests, requests)
    // Old connections may have been closed meanwhile.
    const connections = list().filter(peer => !before.includes(peer)).length
    bursts.push({ requests, connections, profiles: await take() })
  }
  return bursts
}

/**
 * Finds the instructions of a new connection; null where fewer than two bursts made one.
 * @param {{ requests: number, connections: number, total: number }[]} bursts total: instructions of one sidecar
 * @param {number} perRequest instructions
 */
export function findHandshake(bursts, perRequest) {
  const made = bursts.filter(({ connections }) => connections > 0)
  // One count alone does not say how far two are apart.
  if (made.length < 2) return null
  return toCount(made.map(({ requests, connections, total }) => (total - requests * perRequest) / connections))
}

/** @param {number[]} counts @returns {Count} */
export function toCount(counts) {
  return { value: counts.reduce((sum, count) => sum + count, 0) / counts.length, counts }
}

/** The distance of the counts of a quantity, as a share of it. @param {Count} count */
export function spreadOf({ value, counts }) {
  return (Math.max(...counts) - Math.min(...counts)) / value
}

/** @param {Testbed} testbed @param {(spec: ProcessSpec) => ProcessSpec} change of its sidecars @returns {Testbed} */
export function withSidecars(testbed, change) {
  /** @type {Record<string, DataPlane>} */
  const planes = {}
  for (const [name, plane] of Object.entries(testbed.programs.planes)) {
    const { createSidecar } = plane
    planes[name] = createSidecar ? { ...plane, createSidecar: given => change(createSidecar(given)) } : plane
  }
  return { ...testbed, programs: { ...testbed.programs, planes } }
}

/** @param {{ entry: { urls: string[], host: string }, payloadBytes: number, signal: AbortSignal }} options */
function createAsk({ entry: { urls, host }, payloadBytes, signal }) {
  const { hostname: address, port } = new URL(urls[0])
  const endpoint = { address, port: Number(port) }
  const body = 'x'.repeat(payloadBytes)
  const one = async (/** @type {http.Agent} */ agent) => {
    const options = { agent, timeoutSeconds: ANSWER_SECONDS, signal }
    const answer = await send(endpoint, { host, method: 'POST', body }, options).catch(error => {
      signal.throwIfAborted()
      throw error
    })
    if (answer.status !== 200 || answer.body !== body)
      throw new BenchError(
        `a request to ${host} at ${urls[0]} was answered ${answer.status} with ${answer.body.length} bytes, not by the application; the scripts changed what they do, or are too slow under callgrind`,
      )
  }
  return async (/** @type {number} */ requests, /** @type {number} */ atOnce) => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: atOnce })
    try {
      for (let sent = 0; sent < requests; sent += atOnce) {
        signal.throwIfAborted()
        await Promise.all(Array.from({ length: atOnce }, () => one(agent)))
      }
    } finally {
      agent.destroy()
    }
  }
}
