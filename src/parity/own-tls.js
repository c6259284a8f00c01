import { listTlsNotes } from '../model/pipeline-findings.js'
import { findArmPipeline } from '../run/scripts.js'

/**
 * The TLS of a user's own scripts.
 * @import { Arm } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 */
/** @import { Started } from '../run/start-services.js' */

/**
 * Lists notes on the TLS of a pipeline that serves: peers that it does not check, and keys that it parses again for each
 * connection (pipeline-findings.js).
 * @param {{ testbed: Testbed, arm: Arm, services: Pick<Started, 'entry'> }} options
 * @returns {Promise<string[]>} []: the arm has no pipeline, or there is nothing to note
 * @throws if the pipeline speaks TLS and does not answer
 */
export async function listPipelineTlsNotes({ testbed, arm, services: { entry } }) {
  const pipeline = findArmPipeline(testbed.programs, arm)
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
