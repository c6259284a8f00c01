import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { listListeners } from '../../src/node/kernel/sockets.js'
import { readLedgers } from '../../src/node/ledger.js'
import { treeParents } from '../../src/targets/local/cgroups.js'
import { listMarked } from '../../src/targets/local/marks.js'
import { capWay } from '../integration/real-tools.js'

/**
 * What a run can leave on a machine.
 * @typedef {Record<'processes' | 'cgroups' | 'mounts' | 'ports' | 'ledgers' | 'temporary', string[]>} Machine
 */

/**
 * The machine as it is now.
 * @param {{ runId: string | null, temporary: string }} options of the run; temporary: its TMPDIR @returns {Machine}
 */
export function lookAtMachine({ runId, temporary }) {
  const ledgers = readLedgers()
  // Another run starts and ends what it wants on its own block of addresses.
  const blocks = ledgers
    .filter(ledger => ledger.runId !== runId)
    .flatMap(({ holdings }) => holdings.flatMap(({ kind, name }) => (kind === 'addresses' ? [`${name}.`] : [])))
  const isOfAnother = (/** @type {string} */ address) => blocks.some(block => address.startsWith(block))
  return {
    processes: listMarked().flatMap(marked => (marked.runId === runId ? [`${marked.name} (${marked.pid})`] : [])),
    cgroups: treeParents(capWay).flatMap(parent =>
      readdirSync(parent).flatMap(name => (name === `sidecar-bench.${runId}` ? [`${parent}/${name}`] : [])),
    ),
    mounts: readFileSync('/proc/self/mountinfo', 'utf8')
      .split('\n')
      .map(line => line.split(' ')[4] ?? ''),
    ports: listListeners().flatMap(({ address, port }) =>
      address.startsWith('127.') && !isOfAnother(address) ? [`${address}:${port}`] : [],
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
