import { readdirSync } from 'node:fs'
import { expect } from 'vitest'
import { waitForCondition } from '../../src/lib/wait.js'
import { readLedgers } from '../../src/node/ledger.js'
import { listTreeParents, parseRunId } from '../../src/targets/local/cgroups.js'
import { listMarkedProcesses } from '../../src/targets/local/marks.js'
import { listNetworkRuns } from '../../src/targets/local/network-runs.js'
import { capWay } from './real-tools.js'

/** The runs that left something here, or go on. */
const listRuns = () => [
  ...listMarkedProcesses().map(({ runId }) => runId),
  ...listTreeParents(capWay).flatMap(parent => readdirSync(parent).flatMap(name => parseRunId(name) ?? [])),
  ...readLedgers().map(({ runId }) => runId),
  ...listNetworkRuns(),
]

// Somebody's retained run may stay: it is not of the tests of this file.
const before = listRuns()

/** The runs whose process runs: another test may have started one beside this. */
const listAlive = () => readLedgers().flatMap(({ runId, state }) => (state === 'alive' ? [runId] : []))

/**
 * Asserts that no ended run that began with this file of tests left a process, cgroup, ledger or network namespace.
 * @param {number | string} [owner] the process whose runs are checked, or the id of one run; absent: those of all, beside which no
 *   other file may run: it may kill a run, and clean up after it later
 */
export function expectNothingLeft(owner) {
  const isChecked = (/** @type {string} */ runId) =>
    owner === undefined || runId === owner || runId.includes(`-${owner}-`)
  // One run may end, and another begin, while they are listed.
  const aliveBefore = listAlive()
  const runs = listRuns()
  const alive = [...aliveBefore, ...listAlive()]
  expect(runs.filter(runId => isChecked(runId) && !before.includes(runId) && !alive.includes(runId))).toEqual([])
}

/**
 * The processes of a service in a role, of one run: other runs of the machine are not to die of a test.
 * @param {string} name such as ratings-sidecar @param {string} out of the run, as on its command line
 */
export function pidsOf(name, out) {
  const ids = readLedgers().flatMap(({ runId, owner }) => (owner?.command.includes(out) ? [runId] : []))
  return listMarkedProcesses().flatMap(marked =>
    marked.name === name && ids.includes(marked.runId) ? [marked.pid] : [],
  )
}

/**
 * Waits for the processes of a service in a role, of one run.
 * @param {string} name @param {string} out as for pidsOf @returns {Promise<number[]>}
 */
export async function awaitPids(name, out) {
  const isThere = () => pidsOf(name, out).length > 0
  await waitForCondition(isThere, { what: `${name} of ${out}`, deadlineSeconds: 90 })
  return pidsOf(name, out)
}

/** Ends what a test started, and gave up waiting for; its second try begins after it. @param {import('execa').ResultPromise} child */
export async function endChild(child) {
  child.kill()
  await child
}
