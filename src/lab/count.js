import http from 'node:http'
import { BenchError } from '../lib/errors.js'
import { PORTS } from '../model/sidecar-contract.js'
import { listPeers } from '../node/kernel/sockets.js'
import { send } from '../node/send.js'
import { startServices } from '../run/start-services.js'
import { createCounter, runUnderCallgrind } from './callgrind.js'
import { joinProfiles } from './profile.js'

/**
 * Instructions a request of the sidecars of a link, one request at a time: what waits and what runs beside it change nothing.
 * @import { Arm, DataPlane, ProcessSpec, Tool } from '../model/types.ts'
 * @import { Testbed } from '../run/testbed.js'
 * @import { Profile, Stack } from './profile.js'
 */

// Enough for pools and caches to fill.
const WARM_UP_SHARE = 0.25
// A request takes 50 times as long under callgrind.
const ANSWER_SECONDS = 120
// Requests at a time; one connection of the requests before is there already, and each burst keeps its own.
const BURSTS = [3, 6]

/**
 * A quantity, counted twice: what both counts give together, and each.
 * @typedef {{ value: number, counts: number[] }} Count
 * @typedef {object} SidecarCount
 * @property {string} link
 * @property {string} service
 * @property {Count} instructions a request
 * @property {Count | null} handshake instructions a new mTLS connection to or from another sidecar; null: none was counted
 * @property {Stack[]} stacks instructions a request by function
 */

/**
 * @param {{ testbed: Testbed, arm: Arm, start: number, folder: string, valgrind: Tool, callers: number,
 *   requests: number, hasHandshakes: boolean, signal: AbortSignal }} options folder: of the processes
 * @returns {Promise<SidecarCount[]>}
 */
export async function countInstructions({
  testbed,
  arm,
  start,
  folder,
  valgrind,
  callers,
  requests,
  hasHandshakes,
  signal,
}) {
  const { deployment, entry } = await startServices({
    testbed: withSidecars(testbed, spec => runUnderCallgrind(spec, { valgrind, callers })),
    arm,
    start,
    folder,
    signal,
  })
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
      const instructions = combine(halves.map(profiles => profiles[i].total / half))
      return {
        link: arm.link,
        service,
        instructions,
        handshake: findHandshake(
          bursts.map(({ profiles, ...burst }) => ({ ...burst, total: profiles[i].total })),
          instructions.value,
        ),
        stacks: joinProfiles(halves.map(profiles => profiles[i])).stacks.map(stack => ({
          ...stack,
          self: stack.self / (2 * half),
        })),
      }
    })
  } finally {
    await deployment.remove()
  }
}

/**
 * New connections between the sidecars, made by requests that come at once.
 * @param {{ endpoints: import('../model/types.ts').Endpoint[], ask: ReturnType<typeof createAsk>, take: () => Promise<Profile[]> }} options
 */
async function countBursts({ endpoints, ask, take }) {
  const list = () => endpoints.flatMap(listPeers)
  const bursts = []
  for (const requests of BURSTS) {
    const before = list()
    await ask(requests, requests)
    // Others may have been closed meanwhile.
    const connections = list().filter(peer => !before.includes(peer)).length
    bursts.push({ requests, connections, profiles: await take() })
  }
  return bursts
}

/**
 * @param {{ requests: number, connections: number, total: number }[]} bursts total: of one sidecar
 * @param {number} perRequest
 * @returns {Count | null}
 */
export function findHandshake(bursts, perRequest) {
  const made = bursts.filter(({ connections }) => connections > 0)
  // One count alone does not say how far two are apart.
  if (made.length < 2) return null
  return combine(made.map(({ requests, connections, total }) => (total - requests * perRequest) / connections))
}

/** @param {number[]} counts @returns {Count} */
function combine(counts) {
  return { value: counts.reduce((sum, count) => sum + count, 0) / counts.length, counts }
}

/** How far apart the counts of a quantity are, as a share of it. @param {Count} count */
export function spreadOf({ value, counts }) {
  return (Math.max(...counts) - Math.min(...counts)) / value
}

/**
 * The testbed, with sidecars that are started in another way.
 * @param {Testbed} testbed
 * @param {(spec: ProcessSpec) => ProcessSpec} change
 * @returns {Testbed}
 */
export function withSidecars(testbed, change) {
  /** @param {DataPlane} plane @returns {DataPlane} */
  const changed = plane => {
    const { createSidecar } = plane
    return createSidecar === null ? plane : { ...plane, createSidecar: given => change(createSidecar(given)) }
  }
  const planes = Object.entries(testbed.programs.planes).map(([name, plane]) => [name, changed(plane)])
  return { ...testbed, programs: { ...testbed.programs, planes: Object.fromEntries(planes) } }
}

/**
 * @param {{ entry: { urls: string[], host: string }, payloadBytes: number, signal: AbortSignal }} options
 * @returns {(requests: number, atOnce: number) => Promise<void>}
 */
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
  return async (requests, atOnce) => {
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
