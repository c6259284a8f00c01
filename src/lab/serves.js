import { computeSteadyGrowth, renderGrowthPerRequest } from '../model/memory-growth.js'
import { startServices } from '../run/start-services.js'
import { createRequestSender } from './request-sender.js'

/**
 * @import { Arm } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { Started } from '../run/start-services.js'
 */

// A sidecar without a counter is ready within tenths of a second, and answers within milliseconds.
const READY_SECONDS = 2
const ANSWER_SECONDS = 1
const PARTS = 4

/**
 * @typedef {object} ServesOptions
 * @property {Testbed} testbed
 * @property {Arm} arm
 * @property {number} start a number that no other start of this run has
 * @property {string} folder of the processes
 * @property {number} requests their number, rounded up to a multiple of PARTS
 * @property {AbortSignal} signal
 * @property {(line: string) => void} say prints a warning if memory grows with the requests
 */

/**
 * Starts an arm without a counter, and sends it as many requests as a count does. Scripts that do not start, listen
 * elsewhere or fail at a request then show why within seconds; under callgrind that takes minutes. The services are removed at the
 * end, also after an error.
 * @template Result
 * @param {ServesOptions} options
 * @param {(services: Started) => Promise<Result>} inspect is called after the requests, while the services run
 * @returns {Promise<Result>} the result of `inspect`
 * @throws {import('../lib/errors.js').BenchError} if the services do not start or answer, with the last lines that the sidecars
 *   logged; an error of `inspect` or the target; the signal's reason when it aborts
 */
export async function assertServes({ requests, say, ...options }, inspect) {
  const services = await startServices({ ...options, deadlineSeconds: READY_SECONDS })
  try {
    const send = createRequestSender({ ...options, ...services, timeoutSeconds: ANSWER_SECONDS })
    const sidecars = services.deployment.processes.filter(({ spec }) => spec.role === 'sidecar')
    const partRequests = Math.ceil(requests / PARTS)
    /** By sidecar, then by part. @type {number[][]} */
    const residentBytes = sidecars.map(() => [])
    for (let part = 0; part < PARTS; part++) {
      await send(partRequests, 1, { before: part * partRequests, total: PARTS * partRequests })
      const looks = await options.testbed.site.target.look(sidecars)
      for (const [i, { memory }] of looks.entries()) residentBytes[i].push(memory?.rssBytes ?? Number.NaN)
    }
    for (const [i, { spec }] of sidecars.entries()) {
      // Growth counts from the end of the first part, which fills pools and caches.
      const bytes = computeSteadyGrowth(residentBytes[i])
      if (bytes === null) continue
      const growth = renderGrowthPerRequest(bytes / ((PARTS - 1) * partRequests))
      say(`${spec.service}'s sidecar of ${options.arm.link} keeps memory of each request: it grew by ${growth}`)
    }
    return await inspect(services)
  } finally {
    await services.deployment.remove()
  }
}
