import { computeSteadyGrowth, renderGrowth } from '../model/memory-growth.js'
import { startServices } from '../run/start-services.js'
import { createRequestSender } from './count.js'

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
 * Starts an arm without a counter, and sends it as many requests as a count does. Scripts that do not start, listen
 * elsewhere or fail at a request then show why within seconds; under callgrind that takes minutes.
 * @template Found
 * @param {object} options
 * @param {Testbed} options.testbed
 * @param {Arm} options.arm
 * @param {number} options.start its number
 * @param {string} options.folder of the processes
 * @param {number} options.requests their number, rounded up to a multiple of PARTS
 * @param {AbortSignal} options.signal
 * @param {(line: string) => void} options.say prints a warning if memory grows with the requests
 * @param {(services: Started) => Promise<Found>} look is called after the requests
 * @returns {Promise<Found>} the result of `look`
 * @throws {import('../lib/errors.js').BenchError} with the reason and the last lines that the sidecars logged
 */
export async function assertServes({ requests, say, ...options }, look) {
  const services = await startServices({ ...options, deadlineSeconds: READY_SECONDS })
  try {
    const ask = createRequestSender({ ...options, ...services, timeoutSeconds: ANSWER_SECONDS })
    const sidecars = services.deployment.processes.filter(({ spec }) => spec.role === 'sidecar')
    const partRequests = Math.ceil(requests / PARTS)
    /** By sidecar, then by part. @type {number[][]} */
    const residentBytes = sidecars.map(() => [])
    for (let part = 0; part < PARTS; part++) {
      await ask(partRequests, 1, { before: part * partRequests, total: PARTS * partRequests })
      const looks = await options.testbed.site.target.look(sidecars)
      for (const [i, { memory }] of looks.entries()) residentBytes[i].push(memory?.rssBytes ?? Number.NaN)
    }
    for (const [i, { spec }] of sidecars.entries()) {
      // The first part fills pools and caches.
      const bytes = computeSteadyGrowth(residentBytes[i])
      if (bytes !== null)
        say(
          `${spec.service}'s sidecar of ${options.arm.link} keeps memory of each request: it grew by ${renderGrowth(bytes / ((PARTS - 1) * partRequests))}`,
        )
    }
    return await look(services)
  } finally {
    await services.deployment.remove()
  }
}
