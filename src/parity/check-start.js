import path from 'node:path'
import { hasChunks } from '../model/requests.js'
import { findArmPipeline } from '../model/tools.js'
import { startServices } from '../run/start-services.js'
import { chooseWorkers } from '../services/sidecar-options.js'
import { probeChunks } from './chunks.js'
import { isPlaneFault } from './probe-plane.js'
import { hasUserScripts, listPipelineTlsNotes, probeLoadAnswers } from './user-scripts.js'

/** The part of the equal-work check that starts an arm's own services, on its own link. */
/**
 * @import { BenchError } from '../lib/errors.js'
 * @import { Arm } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { ProbedRow } from './beside/probe.js'
 * @import { Slot } from './slots.js'
 */

/** The row of a pipeline, without which it would look as if it had passed the corpus. */
const NOT_CONFIGURED = {
  name: 'parity-answers',
  found: 'not tried: its own configuration has no routes of the corpus',
  expected: 'tried',
  differences: [],
}

/**
 * @typedef {object} StartCheck
 * @property {Testbed} testbed
 * @property {Arm} arm
 * @property {number} index of a start that no other has
 * @property {Slot} slot
 * @property {AbortSignal} signal
 * @property {(error: BenchError) => void} fail is called if sidecars do not start or answer
 * @property {(line: string) => void} say prints a line
 */

/**
 * Starts an arm, counts the workers of its sidecars, times the chunks of answers, and sends requests of their load to sidecars that
 * run scripts of the user. A pipeline has the row NOT_CONFIGURED instead of its workers. All processes are removed in the end.
 * @param {StartCheck} options
 * @returns {Promise<ProbedRow[]>} []: it called `fail`, or there is nothing to check
 * @throws {BenchError} if an arm without sidecars does not start, or scripts of the user do not answer; an error that is not the
 *   plane's (`isPlaneFault`) as it is; the signal's reason when it aborts
 */
export async function checkStart(options) {
  const { testbed, arm } = options
  const probed = await probeStart(options)
  if (probed === null) return []
  const { sidecars, answers } = probed
  if (findArmPipeline(testbed.programs, arm)) return [...answers, NOT_CONFIGURED]
  // Workers cannot be counted on a target that reads no sockets.
  if (sidecars.length === 0 || sidecars.some(({ sockets }) => sockets === null)) return answers
  const workers = chooseWorkers(arm, { cpus: testbed.site.cpus, planes: testbed.programs.planes })
  // A spec has the number of sockets that the right number of workers opens: threads may share one.
  const counts = sidecars.map(({ sockets, expectedSockets }) => (sockets === expectedSockets ? workers : sockets))
  const found = `${[...new Set(counts)].join(' and ')} a sidecar`
  return [{ name: 'parity-workers', found, expected: `${workers} a sidecar`, differences: [] }, ...answers]
}

/**
 * Starts the services of an arm, probes them and removes them.
 * @param {StartCheck} options
 * @returns {Promise<{ answers: ProbedRow[], sidecars: { sockets: number | null, expectedSockets: number | null }[] } | null>}
 *   answers: the rows of the probes; sockets: that listen at each address, null: they cannot be counted; null: it called `fail`
 * @throws {BenchError} as `checkStart`, with the same other errors
 */
async function probeStart({ testbed, arm, index, slot, signal, fail, say }) {
  const folder = path.join(testbed.folders.raw, `check-${arm.id}`)
  const start = () => startServices({ testbed, arm, start: index, folder, signal })
  const failIfPlaneFault = (/** @type {unknown} */ error) => {
    if (signal.aborted || !arm.hasSidecars || !isPlaneFault(error)) throw error
    fail(error)
  }
  const services = await slot.runInTurn(start).catch(failIfPlaneFault)
  if (!services) return null
  const { deployment } = services
  try {
    const answers = hasUserScripts(testbed, arm) ? [await probeLoadAnswers({ testbed, arm, services })] : []
    if (arm.hasSidecars && hasChunks(arm.load)) {
      const chunks = await probeChunks({ testbed, arm, services, signal }).catch(failIfPlaneFault)
      if (!chunks) return null
      answers.push(chunks)
    }
    for (const note of await listPipelineTlsNotes({ testbed, arm, services })) say(note)
    const sidecars = deployment.processes.filter(({ spec }) => spec.role === 'sidecar')
    const looks = await testbed.site.target.look(sidecars)
    return {
      answers,
      sidecars: looks.map(({ workers }, i) => ({ sockets: workers, expectedSockets: sidecars[i].spec.workers })),
    }
  } finally {
    await deployment.remove()
  }
}
