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
 * @import { CapWay, CgroupTree } from './cgroups.js'
 * @import { RunningProcess } from './process.js'
 */

/**
 * Runs every process on this machine, each in a cgroup of its own, each service at a loopback address of
 * its own that the trials before it did not have.
 * @param {{ runId: string, way: CapWay }} options
 * @returns {Promise<Target>}
 */
export async function createLocalTarget({ runId, way }) {
  const isCapped = way.how === 'v1' || way.how === 'v2'
  /** @type {CgroupTree} */
  const tree = isCapped ? await createTree({ way, runId }) : createProcessAccounting({ runId })
  const nextAddress = createAddresses(chooseBlock())
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
        return []
      }
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
 * @param {number} block its second octet
 */
export function createAddresses(block) {
  let last = 0
  return () => {
    last = (last % 0xfffe) + 1
    return `127.${block}.${last >> 8}.${last & 0xff}`
  }
}

/** A second octet under which nothing listens. */
function chooseBlock() {
  const taken = new Set(listListeners().map(({ address }) => address.split('.').slice(0, 2).join('.')))
  for (let tries = 0; tries < 1000; tries++) {
    const block = randomInt(2, 255)
    if (!taken.has(`127.${block}`)) return block
  }
  throw new BenchError('no free block of loopback addresses 127.x.0.0/16: something listens in every one')
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
