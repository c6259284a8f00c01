import { createHash } from 'node:crypto'
import { findScriptFolder } from '../run/scripts.js'

/**
 * The answers of a user's own scripts to the requests of their load. Two such folders are compared with each other, whatever
 * they lack against the kit's contract.
 * @import { Arm } from '../model/types.ts' @import { Testbed } from '../run/kind.js'
 * @import { Started } from '../run/start-services.js' @import { Row } from './beside/probe.js'
 */

// Headers that name the program, the moment or the connection: two programs that do the same work differ in them.
const OF_PROGRAM = /^(date|server|via|connection|keep-alive|transfer-encoding|content-length|x-envoy-.*|x-request-id)$/

/** Says whether an arm runs a folder of the user's. @param {Testbed} testbed @param {Arm} arm */
export function isOwn(testbed, arm) {
  return arm.variant !== null && findScriptFolder(testbed, arm) !== testbed.folders.pipyScripts
}

/**
 * Asks started services as their load will.
 * @param {{ testbed: Testbed, arm: Arm, services: Started }} options @returns {Promise<Row>}
 */
export async function probeOwnAnswers({ testbed, arm, services: { entry } }) {
  const { hostname: address, port, pathname, search } = new URL(entry.urls[0])
  const endpoint = { address, port: Number(port) }
  const { method = 'POST', headers = {}, body = null } = entry.request ?? {}
  const bodies = body === null ? ['x'.repeat(arm.load.payloadBytes ?? 0), 'a shorter body', ''] : [body, body]
  const answers = []
  for (const sent of bodies) {
    const ask = { host: entry.host, method, path: `${pathname}${search}`, headers: { ...headers }, body: sent }
    if (body === null) ask.headers['x-nonce'] = 'own'
    answers.push(renderAnswer(await testbed.site.target.call('send', { endpoint, ask })))
  }
  return { name: 'parity-load', found: [...new Set(answers)].join('; '), expected: null, differences: [] }
}

/** @param {import('../node/send.js').Answer} answer */
function renderAnswer({ status, headers, body }) {
  const named = Object.entries(headers).filter(([name]) => !OF_PROGRAM.test(name))
  const shown = named.sort().map(([name, value]) => `${name}: ${value}`)
  const hash = createHash('sha256').update(body, 'latin1').digest('hex').slice(0, 12)
  return [`${status}`, ...shown, `${body.length} bytes (SHA-256 ${hash})`].join(', ')
}
