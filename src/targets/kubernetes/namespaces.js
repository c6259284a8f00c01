import os from 'node:os'
import { BenchError } from '../../lib/errors.js'
import { processStartTicks, readPlace } from '../../lib/process-start.js'
import { renderCommand } from '../../lib/render-command.js'
import { waitForCondition } from '../../lib/wait.js'
import { LABELS, MANAGER, renderNamespace } from './manifests.js'

/** @import { Api } from './api.js' */

const GONE_SECONDS = 90
// A run without its API server has already failed: closing gives up soon, and reports what remains.
const LOST_SECONDS = 5
const OWNER = 'sidecar-bench/owner'

/**
 * Creates a namespace, annotated with this process, by which `cleanup` finds out whether its run is still in
 * progress.
 * @param {{ api: Api, name: string, runId: string, level: 'restricted' | 'privileged' }} options
 * @throws {BenchError} if another run has a namespace of this name
 */
export async function createNamespace({ api, name, runId, level }) {
  const [host, ...place] = renderPlaceId().split(' ')
  const owner = [host, process.pid, processStartTicks(process.pid), ...place].join(' ')
  try {
    await api.create(renderNamespace({ name, runId, level, annotations: { [OWNER]: owner } }))
  } catch (error) {
    if (/** @type {any} */ (error).code !== 409) throw error
    // An earlier try of this request may have made it, with its answer lost.
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
 * @param {{ api: Api, names: string[] }} options
 * @throws {BenchError} if they are not gone in time
 */
export async function removeNamespaces({ api, names }) {
  for (const name of names) {
    await api.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { lostAfterSeconds: LOST_SECONDS })
  }
  const isGone = async () => (await Promise.all(names.map(api.readNamespace))).every(namespace => namespace === null)
  await waitForCondition(isGone, {
    what: `the namespaces ${names.join(' and ')} to be removed`,
    deadlineSeconds: GONE_SECONDS,
    intervalMs: 200,
  })
}

/**
 * Removes the namespaces of runs that have ended. It leaves those of a run in progress, of a retained run, and of
 * runs of other machines, which may be in progress.
 * @param {{ api: Api, isAll: boolean, run?: string | null, retained?: string[] }} options isAll: also remove those of
 *   other machines; run: only its namespaces, even if it was retained; null (by default): of all runs; retained: ids
 *   of retained runs
 * @returns {Promise<{ removed: string[], left: string[] }>} lines; left: with the reason
 * @throws {BenchError} if they are not gone in time
 */
export async function cleanUpCluster({ api, isAll, run = null, retained = [] }) {
  const namespaces = await api.list('v1', 'Namespace', { labels: `${LABELS.managed}=${MANAGER},${LABELS.run}` })
  const left = []
  const names = []
  for (const { metadata } of namespaces) {
    const runId = metadata.labels[LABELS.run]
    if (run !== null && runId !== run) continue
    const [host, pid, ticks, ...place] = (metadata.annotations?.[OWNER] ?? '').split(' ')
    const isHere = [host, ...place].join(' ') === renderPlaceId()
    const label = `namespace ${metadata.name}`
    if (isHere && processStartTicks(Number(pid)) === Number(ticks)) left.push(`${label}: its run goes on`)
    else if (!isHere && !isAll)
      left.push(
        `${label}: its run was started on ${host || 'another machine'}, in a container of it or before it was booted; remove it with --all`,
      )
    else if (run === null && retained.includes(runId))
      left.push(`${label}: it was retained; remove it with --retained, or with the id of its run: ${runId}`)
    else names.push(metadata.name)
  }
  await removeNamespaces({ api, names })
  return { removed: names.map(name => `namespace ${name}`), left }
}

/** Renders an id of this place: host, boot and pid namespace, as machines or containers may share a hostname. @returns {string} */
function renderPlaceId() {
  const { bootId, pidNamespace } = readPlace()
  return [os.hostname(), bootId, pidNamespace].join(' ')
}
