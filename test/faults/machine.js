import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { listListeners } from '../../src/node/kernel/sockets.js'
import { readLedgers } from '../../src/node/ledger.js'
import { listTreeParents } from '../../src/targets/local/cgroups.js'
import { listMarkedProcesses } from '../../src/targets/local/marks.js'
import { capWay } from '../integration/real-tools.js'

/**
 * What a run can leave on a machine.
 * @typedef {Record<'processes' | 'cgroups' | 'mounts' | 'ports' | 'ledgers' | 'temporary', string[]>} Machine
 */

/**
 * The machine as it is now.
 * @param {{ runId: string | null, blocks: string[], temporary: string }} options of the run; blocks: of its addresses, whose
 *   ports are looked at; temporary: its TMPDIR
 * @returns {Machine}
 */
export function lookAtMachine({ runId, blocks, temporary }) {
  const listeners = listListeners()
  const ledgers = readLedgers()
  // Another run may have begun since, on addresses that this one gave back.
  const taken = ledgers
    .filter(ledger => ledger.runId !== runId && ledger.state === 'alive')
    .flatMap(({ holdings }) => holdings.flatMap(({ kind, name }) => (kind === 'addresses' ? [name] : [])))
  const unclaimedBlocks = blocks.filter(block => !taken.includes(block))
  return {
    processes: listMarkedProcesses().flatMap(marked =>
      marked.runId === runId ? [`${marked.name} (${marked.pid})`] : [],
    ),
    cgroups: listTreeParents(capWay).flatMap(parent =>
      readdirSync(parent).flatMap(name => (name === `sidecar-bench.${runId}` ? [`${parent}/${name}`] : [])),
    ),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map(line => line.split(' ')[4] ?? ''),
    // Other programs of this machine listen where they want.
    ports: listeners.flatMap(({ address, port }) =>
      unclaimedBlocks.some(block => address.startsWith(`${block}.`)) ? [`${address}:${port}`] : [],
    ),
    ledgers: ledgers.flatMap(ledger => (ledger.state === 'alive' ? [] : [ledger.runId])),
    temporary: existsSync(temporary) ? readdirSync(temporary) : [],
  }
}

/**
 * What is there now and was not before.
 * @param {Machine} before @param {Machine} after @returns {string[]} none where the machine is as it was
 */
export function findLeftovers(before, after) {
  return Object.entries(after).flatMap(([kind, names]) =>
    names.filter(name => !before[/** @type {'ports'} */ (kind)].includes(name)).map(name => `${kind}: ${name}`),
  )
}
