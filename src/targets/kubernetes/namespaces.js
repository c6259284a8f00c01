import os from 'node:os'
import { BenchError } from '../../lib/errors.js'
import { waitFor } from '../../lib/wait.js'
import { processStartTicks } from '../../node/kernel/proc-files.js'
import { LABELS, MANAGER, renderNamespace } from './manifests.js'

/**
 * @import { Api } from './api.js'
 */

const GONE_SECONDS = 90
// A run without its API server has already failed: the close gives up soon, and names what is left.
const LOST_SECONDS = 5
const OWNER = 'sidecar-bench/owner'

/**
 * Makes a namespace that must not be there yet.
 * @param {{ api: Api, name: string, runId: string, level: 'restricted' | 'privileged' }} options
 * @throws {BenchError}
 */
export async function createNamespace({ api, name, runId, level }) {
  const owner = `${os.hostname()} ${process.pid} ${processStartTicks(process.pid)}`
  try {
    await api.create(renderNamespace({ name, runId, level, annotations: { [OWNER]: owner } }))
  } catch (error) {
    if (/** @type {any} */ (error).code !== 409) throw error
    // An earlier try may have made it, and its answer was lost.
    const there = await api.readNamespace(name)
    if (there?.metadata?.annotations?.[OWNER] === owner && there.metadata.labels?.[LABELS.run] === runId) return
    throw new BenchError(
      `the namespace ${name} is already there: give --namespace another, or remove what a killed run left: npm run cleanup -- --target kubernetes`,
      { cause: error },
    )
  }
}

/**
 * Deletes namespaces with all that is in them, and waits until they are gone.
 * @param {{ api: Api, names: string[] }} options
 * @throws {BenchError} when they are not gone in time
 */
export async function removeNamespaces({ api, names }) {
  for (const name of names) {
    await api.remove({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } }, { lostAfterSeconds: LOST_SECONDS })
  }
  const isGone = async () => (await Promise.all(names.map(api.readNamespace))).every(found => found === null)
  await waitFor(isGone, {
    what: `the namespaces ${names.join(' and ')} to be removed`,
    deadlineSeconds: GONE_SECONDS,
    intervalMs: 200,
  })
}

/**
 * Removes the namespaces of runs that have ended. It leaves those of a run that goes on, and of runs of other
 * machines, which may go on.
 * @param {{ api: Api, isAll: boolean }} options isAll: those of other machines, too
 * @returns {Promise<string[]>} what was removed, and what was left
 */
export async function cleanUpCluster({ api, isAll }) {
  const found = await api.list('v1', 'Namespace', { labels: `${LABELS.managed}=${MANAGER},${LABELS.run}` })
  const said = []
  const names = []
  for (const { metadata } of found) {
    const [host, pid, ticks] = (metadata.annotations?.[OWNER] ?? '').split(' ')
    const isHere = host === os.hostname()
    if (isHere && processStartTicks(Number(pid)) === Number(ticks))
      said.push(`left     namespace ${metadata.name}: its run is going`)
    else if (!isHere && !isAll)
      said.push(
        `left     namespace ${metadata.name}: its run was started on ${host || 'another machine'}; remove it with --all`,
      )
    else names.push(metadata.name)
  }
  await removeNamespaces({ api, names })
  return [...said, ...names.map(name => `removed namespace ${name}`)]
}
