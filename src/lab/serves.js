import { startServices } from '../run/start-services.js'
import { createAsk } from './count.js'

/** @import { Arm } from '../model/types.ts' @import { Testbed } from '../run/kind.js' @import { Started } from '../run/start-services.js' */

// A sidecar without a counter is ready within tenths of a second, and answers within milliseconds.
const READY_SECONDS = 2
const ANSWER_SECONDS = 2

/**
 * Starts an arm as it is deployed, without a counter, and sends it as many requests as a count does. Scripts that do not
 * start, listen elsewhere, or fail at a request then say why within seconds; under callgrind that takes minutes.
 * @param {{ testbed: Testbed, arm: Arm, start: number, folder: string, requests: number, signal: AbortSignal }} options
 * @template Found @param {(services: Started) => Promise<Found>} look at the services, after the requests
 * @returns {Promise<Found>}
 * @throws {import('../lib/errors.js').BenchError} with the reason and the last lines that the sidecars logged
 */
export async function assertServes({ requests, ...asked }, look) {
  const services = await startServices({ ...asked, deadlineSeconds: READY_SECONDS })
  try {
    await createAsk({ ...asked, ...services, timeoutSeconds: ANSWER_SECONDS })(requests, 1)
    return await look(services)
  } finally {
    await services.deployment.remove()
  }
}
