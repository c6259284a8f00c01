import os from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { BenchError } from '../../lib/errors.js'
import { processStartTicks } from '../../node/kernel/proc-files.js'
import { LABELS, MANAGER, renderNamespace } from './manifests.js'

/**
 * @import { Api } from './api.js'
 */

const GONE_SECONDS = 90
// The run has failed already where this matters: what is left is named.
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
    // The first try may have been taken and its answer lost.
    const there = await api.read('v1', 'Namespace', name)
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
  const deadline = performance.now() + GONE_SECONDS * 1000
  for (const name of names) {
    while ((await api.read('v1', 'Namespace', name)) !== null) {
      if (performance.now() > deadline)
        throw new BenchError(`the namespace ${name} is still going after ${GONE_SECONDS} s`)
      await delay(200)
    }
  }
}

/**
 * Removes the namespaces of runs that are no more. A run that is still going is left alone, and so is one that
 * was started on another machine, where nobody here can tell.
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
