import { summarise } from '../analysis/summarise.js'
import { UsageError } from '../lib/errors.js'
import { createProductionAnswer } from '../production/answer.js'
import { renderProduction, renderProductionDetails } from '../production/documents.js'
import { openPrometheus } from '../production/prometheus.js'
import { findRatios } from '../production/ratios.js'
import { readSidecarUsage } from '../production/read-production.js'
import { computeWorkloadSizes } from '../production/workload-size.js'
import { readRun } from '../records/records.js'
import { renderAnswerText } from '../report/answer/text.js'
import { withRuns } from './open-runs.js'

/**
 * `size --from-prometheus`: requests and limits of running sidecars, by what they used.
 * @import { Context } from './program.js'
 */
/**
 * @import { ProductionSize } from '../production/answer.js'
 * @import { WorkloadSize } from '../production/workload-size.js'
 */

/**
 * @typedef {object} ProductionOptions
 * @property {string} fromPrometheus the URL of Prometheus, whose user and password are percent-encoded
 * @property {string} namespace of the workloads
 * @property {string[]} container names of the sidecars' containers
 * @property {{ text: string, seconds: number }} for how far back to read; text: as the user wrote it
 * @property {number} queryTimeout milliseconds
 * @property {string} [plane] that would replace the running one; absent: the running one is sized
 * @property {string} [ratios] results folder or bundle of a run that compared the two planes; there if `plane` is
 * @property {string} [format] to print instead of the answer
 * @property {boolean} [json] the same as `format: 'json'`
 * @property {boolean} [details] all workloads and numbers instead of the answer
 */

/**
 * Reads the usage of running sidecars, with PROMETHEUS_TOKEN if it is set, and prints the requests and limits that fit it.
 * @param {ProductionOptions} options
 * @param {Context} context
 * @throws {import('../lib/errors.js').BenchError} if nothing can be read from Prometheus, the run of `ratios` cannot be read, or it has no
 *   ratio to `plane`; the signal's reason when it aborts
 */
export async function sizeProduction(options, { print, signal }) {
  const {
    namespace,
    container: containers,
    for: range,
    plane = null,
    format = options.json ? 'json' : undefined,
  } = options
  const prometheus = openPrometheus({
    url: new URL(options.fromPrometheus),
    deadlineSeconds: options.queryTimeout / 1000,
    token: process.env.PROMETHEUS_TOKEN,
    signal,
  })
  const production = await readSidecarUsage(prometheus, { namespace, containers, seconds: range.seconds })
  const sizes = computeWorkloadSizes(production)
  const { ratios, lacks } =
    plane === null ? { ratios: new Map(), lacks: [] } : await readRatios({ sizes, plane, folder: `${options.ratios}` })
  const size = {
    namespace,
    range: range.text,
    seconds: range.seconds,
    address: prometheus.address,
    production,
    sizes,
    plane,
    ratios,
    warnings: [...lacks, ...[...prometheus.warnings].map(warning => `Prometheus: ${warning}`)],
  }
  if (format) return print(renderProduction(size, format))
  if (options.details) return print(renderProductionDetails(size))
  const more = ['To paste: --format yaml    All workloads and numbers: --details']
  print(renderAnswerText(createProductionAnswer(size), { more }))
}

/**
 * Reads from a run the ratios of another plane to that of each container.
 * @param {{ sizes: WorkloadSize[], plane: string, folder: string }} options sizes: at least one; folder: of the run, or a bundle;
 *   plane: that would replace the running one
 * @returns {Promise<{ ratios: ProductionSize['ratios'], lacks: string[] }>} ratios: by container; lacks: messages,
 *   one for each container without a ratio
 * @throws {BenchError} as `findRatios` if no container has a ratio, with the exit status of a UsageError; if the folder holds no run
 */
async function readRatios({ sizes, plane, folder }) {
  return withRuns([folder], ([runFolder]) => {
    const summary = summarise(readRun(runFolder))
    const containers = [...new Set(sizes.map(({ container }) => container))]
    const errors = []
    /** @type {ProductionSize['ratios']} */
    const ratios = new Map()
    for (const container of containers) {
      try {
        const ratio = findRatios(summary, { container, plane, folder })
        if (ratio === null)
          errors.push(new UsageError(`--plane ${plane}: the sidecars named ${container} are that already`))
        else ratios.set(container, ratio)
      } catch (error) {
        if (!(error instanceof UsageError)) throw error
        errors.push(error)
      }
    }
    if (ratios.size === 0) throw errors[0]
    return { ratios, lacks: errors.map(({ message }) => message) }
  })
}
