import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { findTool } from '../../src/tools/find.js'
import { valgrindTool } from '../../src/tools/profilers.js'
import { expectNothingLeft } from './leftovers.js'
import { need, needNamespaces } from './real-tools.js'

// Public pipelines, unchanged: PIPELINES names a folder with checkouts of flomesh-io/pipy and flomesh-io/fsm, each by its
// name. Their scripts are not part of the kit; test/pipelines has a pipeline.yaml for each.
const FOLDER = 'test/pipelines'
const { PIPELINES } = process.env
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
    const { stdout, stderr, exitCode } = await execa('node', argv, { reject: false })
    expect(exitCode, stderr).toBe(0)
    const { rows } = JSON.parse(stdout)
    const [{ quantity, service, new: instructions }] = rows
    expect([quantity, service]).toEqual(['instructions', 'ratings'])
    // Passing a request on takes tens of thousands: fewer would be no answer of the script.
    expect(instructions).toBeGreaterThan(30_000)
    expect(instructions).toBeLessThan(300_000)
    await expectNothingLeft()
  })
})
