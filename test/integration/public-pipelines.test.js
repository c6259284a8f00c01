import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { findTool } from '../../src/tools/find.js'
import { valgrindTool } from '../../src/tools/profilers.js'
import { expectNothingLeft } from './leftovers.js'
import { need, needNamespaces } from './real-tools.js'

// Public pipelines: PIPELINES names a folder with checkouts of flomesh-io/pipy, fsm, pipy-demos and ztm, and of
// addozhang/rest2dubbo_mtls, each by its name. Their scripts are not part of the kit; test/pipelines has a pipeline.yaml for
// each.
const FOLDER = 'test/pipelines'
const { PIPELINES } = process.env
// Instructions of a request, at least and at most, where they are not those of a proxy that parses HTTP; and what is refused.
/** @type {Record<string, { least?: number, most?: number, refused?: RegExp, notes?: RegExp }>} */
const OTHERWISE = {
  'benchmark-001-tcp': { least: 3_000, most: 30_000 },
  // The applications of the kit speak HTTP/1.1.
  'benchmark-005-http2': { refused: /was answered 502/ },
  // A signature is verified.
  'gateway-jwt': { least: 1_000_000, most: 100_000_000 },
  'mqtt-proxy': { least: 3_000, most: 30_000 },
  'mqtt-proxy-codec': { refused: /main\.js has the codec decodeMQTT, and the load speaks HTTP\/1\.1, not MQTT/ },
  'rest2dubbo-inbound': {
    notes: /accepts any certificate of the client.*\n.*parses its RSA 4096 key for each connection/,
  },
  'rest2dubbo-outbound': {
    notes: /accepts any certificate of the server.*\n.*parses a private key for each connection/,
  },
  'ztm-hub': { refused: /its scripts need pipy 2, and \S+ is 1\.5/ },
}
const adapters = readdirSync(FOLDER).flatMap(name => {
  const text = readFileSync(path.join(FOLDER, name, 'pipeline.yaml'), 'utf8')
  const [, scripts] = /^scripts: \$\{PIPELINES\}\/(.+)$/m.exec(text) ?? []
  return scripts ? [{ name, scripts }] : []
})

describe('a public pipeline', { timeout: 120_000 }, () => {
  it.for(adapters)('of $scripts is counted as it is', async ({ name, scripts }, context) => {
    if (!PIPELINES) context.skip(`needs PIPELINES, a folder with ${scripts}`)
    if (!existsSync(path.join(`${PIPELINES}`, scripts))) context.skip(`needs ${scripts} in PIPELINES`)
    need(context, 'pipy')
    await needNamespaces(context)
    if ('missing' in (await findTool(valgrindTool))) context.skip('needs valgrind, which cannot be had here')
    const argv = ['src/cli.js', 'lab', path.join(FOLDER, name), '--requests', '100', '--json']
    const child = execa('node', argv, { reject: false })
    const { stdout, stderr, exitCode } = await child
    const { least = 30_000, most = 300_000, refused, notes } = OTHERWISE[name] ?? {}
    if (refused) {
      expect(stderr).toMatch(refused)
      return expectNothingLeft(child.pid)
    }
    expect(exitCode, stderr).toBe(0)
    if (notes) expect(stderr).toMatch(notes)
    const { rows } = JSON.parse(stdout)
    const [{ quantity, service, new: instructions }] = rows
    expect([quantity, service]).toEqual(['instructions', 'ratings'])
    // Passing a request on takes tens of thousands: fewer would be no answer of the script.
    expect(instructions).toBeGreaterThan(least)
    expect(instructions).toBeLessThan(most)
    expectNothingLeft(child.pid)
  })
})
