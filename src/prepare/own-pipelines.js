import { BenchError } from '../lib/errors.js'
import { findLoad } from '../loads/registry.js'
import { hasFixedPorts, isEchoed } from '../model/pipeline.js'
import { assertAllowed } from '../request/constraint.js'
import { LINK, PIPELINES } from '../request/constraints/pipelines.js'

/**
 * What a run of pipelines is asked beside their names.
 * @import { LoadGenerator } from '../model/types.ts' @import { Overrides } from '../request/question.js'
 * @import { Pipelines } from './programs.js'
 */

/**
 * Asks for the link and the namespaces that pipelines need; the rest stays as it was asked.
 * @param {Overrides} overrides
 * @param {{ pipelines: Pipelines, load?: LoadGenerator }} options
 * @returns {Overrides} @throws {import('../lib/errors.js').UsageError} for what a pipeline cannot be asked
 */
export function askForPipelines(overrides, { pipelines, load = findLoad() }) {
  const own = Object.values(pipelines)
  const { axes, target = 'local', isLoadElsewhere = false } = overrides
  for (const pipeline of own)
    assertAllowed(PIPELINES, {
      file: pipeline.file,
      axes,
      target,
      generator: load === findLoad() ? null : load.name,
      isLoadElsewhere,
      isEchoed: isEchoed(pipeline),
    })
  if (own.length === 0) return overrides
  const hasNamespaces = own.some(hasFixedPorts)
  const interception = axes.interception ?? ['none']
  return {
    ...overrides,
    axes: { ...axes, link: [LINK], tls: ['plaintext'], ...(hasNamespaces && { interception }) },
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
