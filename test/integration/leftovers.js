import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { readLedgers } from '../../src/node/ledger.js'
import { treeParents } from '../../src/targets/local/cgroups.js'
import { listMarked } from '../../src/targets/local/marks.js'
import { capWay } from './real-tools.js'

/**
 * No process, cgroup, key or ledger of a run is left on this machine.
 * @param {number} [pid] of the program whose runs are asked for, by their names; without it, those of all
 */
export function expectNothingLeft(pid) {
  const isOwn = (/** @type {string} */ name) => pid === undefined || name.includes(`-${pid}-`)
  expect(listMarked().filter(({ runId }) => isOwn(runId))).toEqual([])
  for (const parent of treeParents(capWay))
    expect(readdirSync(parent).filter(name => name.startsWith('sidecar-bench.2') && isOwn(name))).toEqual([])
  expect(readLedgers().filter(({ runId }) => isOwn(runId))).toEqual([])
}

/**
 * The processes of a service in a role, of one run: other runs of the machine are not to die of a test.
 * @param {string} name such as ratings-sidecar
 * @param {string} out of the run, as on its command line
 */
export function pidsOf(name, out) {
  const ids = readLedgers().flatMap(({ runId, owner }) => (owner?.command.includes(out) ? [runId] : []))
  return listMarked().flatMap(marked => (marked.name === name && ids.includes(marked.runId) ? [marked.pid] : []))
}
