import { randomInt } from 'node:crypto'
import { BenchError } from '../../lib/errors.js'
import { GENERATOR, PROBER, placeAt } from '../../model/sidecar-contract.js'
import { findConflict, findOwner, listListeners } from '../../node/kernel/sockets.js'
import { look, observe } from '../../node/observer.js'
import { createProber } from '../../node/prober.js'
import { createTree } from './cgroups.js'
import { kill, listMarked, renderMarks } from './marks.js'
import { startProcess } from './process.js'
import { createProcessAccounting } from './process-accounting.js'

/**
 * @import { Deployment, ProcessSpec, Target } from '../../model/types.ts'
 * @import { Ledger } from '../../node/ledger.js'
 * @import { CapWay, CgroupTree } from './cgroups.js'
 * @import { RunningProcess } from './process.js'
 */

// 127.0 and 127.1 are what other programs take.
const BLOCKS = Array.from({ length: 253 }, (_, i) => `127.${i + 2}`)

/**
 * Runs every process on this machine, each in a cgroup of its own, each service at a loopback address of
 * its own that the trials before it did not have.
 * @param {{ ledger: Ledger, way: CapWay }} options ledger: of the run; closing the target closes it
 * @returns {Promise<Target>}
 */
export async function createLocalTarget({ ledger, way }) {
  const { runId } = ledger
  const isCapped = way.how === 'v1' || way.how === 'v2'
  const block = holdBlock(ledger)
  /** @type {CgroupTree} */
  let tree
  try {
    tree = isCapped ? await createTree({ way, ledger }) : createProcessAccounting({ runId })
  } catch (error) {
    ledger.release('addresses', block)
    throw error
  }
  const nextAddress = createAddresses(block)
  /** @type {Set<RunningProcess>} */
  const running = new Set()

  const killAll = () => {
    for (const marked of listMarked()) if (marked.runId === runId) kill(marked.pid)
  }
  process.on('exit', killAll)
  const prober = createProber({ environment: renderMarks({ runId }) })

  return {
    name: 'local',

    locate: folder => folder,

    async placesFor(_start, services) {
      return Object.fromEntries([...services, PROBER, GENERATOR].map(name => [name, placeAt(nextAddress())]))
    },

    async deploy(specs, { start, folder }) {
      checkPorts(specs)
      /** @type {RunningProcess[]} */
      const processes = []
      /** @type {Deployment} */
      const deployment = {
        processes,
        async remove() {
          await Promise.all(processes.map(p => p.stop()))
          for (const p of processes) running.delete(p)
        },
      }
      try {
        for (const spec of specs) {
          const process = await startProcess({ spec, folder, tree, start, runId })
          processes.push(process)
          running.add(process)
        }
        return deployment
      } catch (error) {
        await deployment.remove()
        throw error
      }
    },

    call: async (procedure, args) => /** @type {any} */ (prober)[procedure](args),
    look: async processes => look(probesOf(processes)),
    observe: async (processes, options) => ({ ...(await observe(probesOf(processes), options)), clockOffsetMs: 0 }),

    async close({ retain } = { retain: false }) {
      process.off('exit', killAll)
      if (!retain) {
        await tree.remove()
        ledger.release('addresses', block)
        ledger.close()
        return []
      }
      ledger.close({ retain })
      for (const process of running) process.unref()
      return [...running].map(({ spec }) => `${spec.service}'s ${spec.role}`)
    },
  }
}

/** @param {import('../../model/types.ts').Handle[]} processes of this target */
function probesOf(processes) {
  return processes.map(p => /** @type {RunningProcess} */ (p).probe)
}

/**
 * The addresses of a block, one after the other. They begin again when all were given out, which takes 130 starts of 500
 * services: connections of the first have ended by then.
 * @param {string} block its first two bytes
 */
export function createAddresses(block) {
  let last = 0
  return () => {
    last = (last % 0xfffe) + 1
    return `${block}.${last >> 8}.${last & 0xff}`
  }
}

/**
 * Takes a block of addresses in which nothing listens, and which no other run holds.
 * @param {Ledger} ledger
 * @returns {string} its first two bytes, such as 127.7
 */
function holdBlock(ledger) {
  const listening = listListeners().map(({ address }) => address.split('.').slice(0, 2).join('.'))
  const listHeld = () => ledger.others().flatMap(({ holdings }) => holdings.map(({ name }) => name))
  const taken = new Set([...listening, ...listHeld()])
  const free = BLOCKS.filter(block => !taken.has(block))
  while (free.length > 0) {
    const [block] = free.splice(randomInt(free.length), 1)
    // Two runs that start at once both see the other's entry, and both choose again.
    ledger.hold('addresses', block)
    if (!listHeld().includes(block)) return block
    ledger.release('addresses', block)
  }
  throw new BenchError(
    'no free block of loopback addresses 127.x.0.0/16: something listens in each, or another run holds it',
  )
}

/** @param {ProcessSpec[]} specs */
function checkPorts(specs) {
  const listeners = listListeners()
  for (const endpoint of specs.flatMap(spec => [...spec.listens, ...(spec.admin ? [spec.admin] : [])])) {
    const conflict = findConflict(endpoint, listeners)
    if (!conflict) continue
    const owner = findOwner(conflict.inode) ?? 'another process'
    const where = `${conflict.address}:${conflict.port}`
    throw new BenchError(
      `port ${endpoint.port} is already taken: ${owner} listens on ${where}; stop it, or run where it is free`,
    )
  }
}
