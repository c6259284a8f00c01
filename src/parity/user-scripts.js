import { createHash } from 'node:crypto'
import { BenchError } from '../lib/errors.js'
import { listTlsFindings } from '../model/pipeline-findings.js'
import { createCheckRequest, renderFillerHeaders } from '../model/requests.js'
import { findArmPipeline } from '../model/tools.js'
import { findScriptFolder } from '../run/scripts.js'

/**
 * The row `parity-load`, and notes on TLS: how a user's own scripts answer the requests of their load. Two such folders are
 * compared with each other by these answers alone, not by the kit's contract.
 * @import { Request, Response } from '../node/send.js'
 * @import { Arm } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 * @import { Started } from '../run/start-services.js'
 * @import { ProbedRow } from './beside/probe.js'
 */

// Headers of the program, the moment or the connection, in which two programs that do the same work differ.
const UNCOMPARED_HEADERS =
  /^(date|server|via|connection|keep-alive|transfer-encoding|content-length|x-envoy-.*|x-request-id)$/

/**
 * Says whether an arm's sidecars run a folder of scripts that the user named as a variant.
 * @param {Testbed} testbed
 * @param {Arm} arm
 * @returns {boolean} false also: the variant is a program, which runs the kit's scripts
 */
export function hasUserScripts(testbed, arm) {
  return findScriptFolder(testbed, arm) !== findScriptFolder(testbed, { ...arm, variant: null })
}

/**
 * Sends requests like those of their load to the first URL of started services, one after the other.
 * @param {{ testbed: Testbed, arm: Arm, services: Pick<Started, 'entry'> }} options
 * @returns {Promise<ProbedRow>} found: the distinct answers; expected: null; differences: []
 * @throws {BenchError} if one is not answered, with any error of the call as its cause
 */
export async function probeLoadAnswers({ testbed, arm, services: { entry } }) {
  const { endpoint, certificate: credentials } = entry
  const answers = []
  for (const request of listLoadRequests({ arm, entry })) {
    const answer = await testbed.site.target.call('send', { endpoint, request, credentials }).catch(error => {
      throw new BenchError(
        `${request.method} ${request.path} of the load of ${arm.id} (${endpoint.address}:${endpoint.port}) failed: ${error.message}`,
        { cause: error },
      )
    })
    answers.push(renderAnswer(answer))
  }
  return { name: 'parity-load', found: [...new Set(answers)].join('; '), expected: null, differences: [] }
}

/**
 * Lists requests like those of an arm's load: the pipeline's own one, twice; else one of each kind; else posts of three sizes.
 * @param {{ arm: Arm, entry: Pick<Started['entry'], 'host' | 'path' | 'request'> }} options path: for requests that have none of
 *   their own
 * @returns {Request[]}
 */
function listLoadRequests({ arm, entry: { host, path, request } }) {
  const { load, conditions } = arm
  const { protocol } = conditions
  if (request) {
    const { method, headers, body } = request
    // Bodies are bytes as latin1 (send.js): these are the UTF-8 bytes of the body.
    const ownRequest = { host, method, path, headers, body: Buffer.from(body).toString('latin1') }
    return [ownRequest, ownRequest]
  }
  if (load.requests)
    return load.requests.map(kind => {
      const check = createCheckRequest({ requests: [kind] }, 'own', protocol).request
      const headers = { ...renderFillerHeaders(kind.requestHeaderBytes), ...check.headers }
      return { host, ...check, headers, protocol }
    })
  const bodies = ['x'.repeat(load.payloadBytes ?? 0), 'a shorter body', '']
  return bodies.map(body => ({ host, method: 'POST', path, headers: { 'x-nonce': 'own' }, body }))
}

/**
 * Renders the status, the headers except those of the program, and the length and hash of the body (bytes as latin1, see
 * send.js).
 * @param {Pick<Response, 'status' | 'headers' | 'body'>} answer
 * @returns {string} its parts joined by commas
 */
function renderAnswer({ status, headers, body }) {
  const comparedHeaders = Object.entries(headers).filter(([name]) => !UNCOMPARED_HEADERS.test(name))
  const headerLines = comparedHeaders.sort().map(([name, value]) => `${name}: ${value}`)
  const hash = createHash('sha256').update(body, 'latin1').digest('hex').slice(0, 12)
  return [`${status}`, ...headerLines, `${body.length} bytes (SHA-256 ${hash})`].join(', ')
}

/**
 * Lists notes on the TLS of a pipeline that serves: peers that it does not check, and keys that it parses again for each
 * connection (pipeline-findings.js). It sends a request to a pipeline that speaks TLS, to read the type of its key.
 * @param {{ testbed: Testbed, arm: Arm, services: Pick<Started, 'entry'> }} options
 * @returns {Promise<string[]>} []: the arm has no pipeline, or there is nothing to note
 * @throws {BenchError} if the pipeline speaks TLS and does not answer; other errors of the call as they are
 */
export async function listPipelineTlsNotes({ testbed, arm, services: { entry } }) {
  const pipeline = findArmPipeline(testbed.programs, arm)
  if (!pipeline) return []
  const { endpoint, certificate: credentials, host, path } = entry
  if (!credentials) return listTlsFindings({ pipeline })
  const { keyType } = await testbed.site.target.call('send', { endpoint, request: { host, path }, credentials })
  return listTlsFindings({ pipeline, keyType })
}
