import { BenchError, UsageError } from '../lib/errors.js'
import { findLoad } from '../loads/registry.js'
import { hasFixedPorts, isEchoed } from '../model/pipeline.js'

/**
 * What a run of pipelines is asked beside their names.
 * @import { LoadGenerator } from '../model/types.ts' @import { Overrides } from '../plan/question.js'
 * @import { Pipelines } from './programs.js'
 */

/** The link of one proxy alone. */
export const LINK = 'ratings'

/**
 * Asks for the link and the namespaces that pipelines need; the rest stays as it was asked.
 * @param {{ overrides: Overrides }} asked @param {{ pipelines: Pipelines, load?: LoadGenerator }} options
 * @returns {Overrides} @throws {UsageError} for what a pipeline cannot be asked
 */
export function askForPipelines({ overrides }, { pipelines, load = findLoad() }) {
  const own = Object.values(pipelines)
  if (own.length === 0) return overrides
  const [{ file }] = own
  const { axes } = overrides
  const refuse = (/** @type {string} */ what, /** @type {string} */ why) => new UsageError(`${file}: ${what}: ${why}`)
  const link = axes.link?.find(name => name !== LINK)
  if (link !== undefined)
    throw refuse(`--link ${link}`, `a pipeline.yaml describes one proxy before one application: give --link ${LINK}`)
  const tls = axes.tls?.find(name => name !== 'plaintext')
  if (tls !== undefined) throw refuse(`--tls ${tls}`, 'the load comes in plaintext, and so it goes on: leave it out')
  const protocol = axes.protocol?.find(name => name !== 'http/1.1')
  if (protocol !== undefined)
    throw refuse(
      `--protocol ${protocol}`,
      'the load is HTTP/1.1 where a pipeline.yaml describes the proxy: leave it out',
    )
  const feature = axes.features?.find(name => name !== 'lean')
  if (feature !== undefined) throw refuse(`--features ${feature}`, 'it has the features of its scripts: leave it out')
  const odd = own.find(pipeline => !isEchoed(pipeline))
  if (odd && load !== findLoad())
    throw new UsageError(
      `${odd.file}: --generator ${load.name} posts a body that comes back: leave it out, and k6 makes the load`,
    )
  const hasNamespaces = own.some(hasFixedPorts)
  return {
    ...overrides,
    axes: {
      ...axes,
      link: [LINK],
      tls: ['plaintext'],
      ...(hasNamespaces && { interception: axes.interception ?? ['none'] }),
    },
    ...(hasNamespaces && { hasNamespaces }),
  }
}

/**
 * Says what scripts with fixed ports can do where there are no network namespaces.
 * @param {Pipelines | undefined} pipelines @param {Error} error why there are none
 */
export function explainNamespaces(pipelines, error) {
  const fixed = Object.values(pipelines ?? {}).find(hasFixedPorts)
  if (!fixed) return error
  return new BenchError(
    `${fixed.file}: its scripts fix a port, so each start needs a network namespace: ${error.message}; or leave out the port, and write {{listen.port}} and {{upstream.port}} by replace, files, arguments or environment`,
    { cause: error },
  )
}
