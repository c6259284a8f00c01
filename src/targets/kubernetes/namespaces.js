import os from 'node:os'
import { BenchError } from '../../lib/errors.js'
import { readPlace, readProcessStartTicks } from '../../lib/process-start.js'
import { renderCommand } from '../../lib/render-command.js'
import { waitForCondition } from '../../lib/wait.js'
import { LABELS, MANAGER, renderNamespace } from './manifests.js'

/** @import { Api } from './api.js' */

const GONE_SECONDS = 90
// A run without its API server has already failed: closing gives up soon, and reports what remains.
const LOST_SECONDS = 5
const OWNER = 'sidecar-bench/owner'

/**
 * Creates a namespace, annotated with this process, by which `cleanup` finds out whether its run is still in progress. One that this
 * run has created before is accepted.
 * @param {{ api: Api, name: string, runId: string, level: 'restricted' | 'privileged' }} options level: the Pod Security
 *   Standard that its pods must meet
 * @throws {BenchError} if the API server refuses it, or another run has a namespace of this name; {SiteLostError} if the API server
 *   does not answer: it may then exist
 */
export async function createNamespace({ api, name, runId, level }) {
  const { host, bootId, pidNamespace } = readPidPlace()
  const owner = [host, process.pid, readProcessStartTicks(process.pid), bootId, pidNamespace].join(' ')
  try {
    await api.create(renderNamespace({ name, runId, level, annotations: { [OWNER]: owner } }))
  } catch (error) {
    if (/** @type {any} */ (error).code !== 409) throw error
    // An earlier try of this request may have created it, with its answer lost.
    const existing = await api.readNamespace(name)
    if (existing?.metadata?.annotations?.[OWNER] === owner && existing.metadata.labels?.[LABELS.run] === runId) return
    throw new BenchError(
      `the namespace ${name} is already there: give --namespace another, or remove what a killed run left: ${renderCommand('cleanup', '--target kubernetes')}`,
      { cause: error },
    )
  }
}

/**
 * Deletes namespaces with everything in them, and waits until they are gone.
 * @param {{ api: Api, names: string[] }} options names: []: it does nothing; one that does not exist counts as gone
 * @throws {BenchError} if the API server refuses; {SiteLostError} if it does not answer; {TimeoutError} if they are not gone within
 *   GONE_SECONDS
 */
export async function removeNamespaces({ api, names }) {
  for (const name of names) {
    await api.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { lostAfterSeconds: LOST_SECONDS })
  }
  const checkGone = async () => (await Promise.all(names.map(api.readNamespace))).every(namespace => namespace === null)
  await waitForCondition(checkGone, {
    what: `the namespaces ${names.join(' and ')} to be removed`,
    deadlineSeconds: GONE_SECONDS,
    intervalMs: 200,
  })
}

/**
 * @typedef {object} ClusterCleanup
 * @property {Api} api
 * @property {boolean} includesOtherMachines also removes namespaces of runs of other machines
 * @property {string | null} [run] removes only its namespaces, even if it was retained; null (by default): those of all runs
 * @property {string[]} [retained] ids of retained runs
 */

/**
 * Removes the namespaces of runs that have ended. It leaves those of a run in progress, of a retained run, and of
 * runs of other machines, which may be in progress.
 * @param {ClusterCleanup} options
 * @returns {Promise<{ removed: string[], left: string[] }>} lines; left: with the reason
 * @throws {BenchError} if the namespaces cannot be listed; as `removeNamespaces`
 */
export async function cleanUpCluster({ api, includesOtherMachines, run = null, retained = [] }) {
  const namespaces = await api.list('v1', 'Namespace', { labels: `${LABELS.managed}=${MANAGER},${LABELS.run}` })
  const left = []
  const names = []
  for (const { metadata } of namespaces) {
    const runId = metadata.labels[LABELS.run]
    if (run !== null && runId !== run) continue
    const isRetained = run === null && retained.includes(runId)
    const reason = findReasonToKeepNamespace({ metadata, includesOtherMachines, isRetained })
    if (reason === null) names.push(metadata.name)
    else left.push(`namespace ${metadata.name}: ${reason}`)
  }
  await removeNamespaces({ api, names })
  return { removed: names.map(name => `namespace ${name}`), left }
}

/**
 * Finds the reason why a namespace is not cleaned up.
 * @param {{ metadata: any, includesOtherMachines: boolean, isRetained: boolean }} options metadata: of the namespace;
 *   includesOtherMachines: those of other machines are removed, too; isRetained: its run was retained, and the user has not named it
 * @returns {string | null} null: it is cleaned up
 */
function findReasonToKeepNamespace({ metadata, includesOtherMachines, isRetained }) {
  const [host, pid, ticks, bootId, pidNamespace] = (metadata.annotations?.[OWNER] ?? '').split(' ')
  const here = readPidPlace()
  const isHere = host === here.host && bootId === here.bootId && pidNamespace === here.pidNamespace
  if (isHere && readProcessStartTicks(Number(pid)) === Number(ticks)) return 'its run goes on'
  if (!isHere && !includesOtherMachines)
    return `its run was started on ${host || 'another machine'}, in a container of it or before it was booted; remove it with --all`
  const runId = metadata.labels[LABELS.run]
  return isRetained ? `it was retained; remove it with --retained, or with the id of its run: ${runId}` : null
}

/** Reads the place where pids of this process are valid. A hostname alone may be that of several machines or containers. */
function readPidPlace() {
  return { host: os.hostname(), ...readPlace() }
}
