import { listTlsNotes } from '../model/pipeline-findings.js'
import { findPipelineOf } from '../run/scripts.js'

/** The TLS of a user's own scripts. @import { Arm } from '../model/types.ts' @import { Testbed } from '../run/kind.js' */
/** @import { Started } from '../run/start-services.js' */

/**
 * Lists what is to be known of the TLS of a pipeline, once it has answered.
 * @param {{ testbed: Testbed, arm: Arm, services: Pick<Started, 'entry'> }} options @returns {Promise<string[]>}
 */
export async function listPipelineTlsNotes({ testbed, arm, services: { entry } }) {
  const pipeline = findPipelineOf(testbed.programs, arm)
  if (!pipeline) return []
  const { hostname: address, port, pathname: path } = new URL(entry.urls[0])
  const { certificate: credentials, host } = entry
  if (!credentials) return listTlsNotes({ pipeline })
  const ask = { host, path }
  const { keyType } = await testbed.site.target.call('send', {
    endpoint: { address, port: Number(port) },
    ask,
    credentials,
  })
  return listTlsNotes({ pipeline, keyType })
}
