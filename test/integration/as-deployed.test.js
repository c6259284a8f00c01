import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { readTextFiles } from '../../src/lib/text-files.js'
import { listComparisons } from '../../src/model/results.js'
import { listProcEntries, readProcFile } from '../../src/node/kernel/proc-files.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { makeFolder } from '../fakes/scratch.js'
import { awaitWindowStart } from './await-window.js'
import { expectNothingLeft, pidsOf } from './leftovers.js'
import { need, tools } from './real-tools.js'

/** @import { Summary } from '../../src/model/types.ts' */

// The scripts of FSM, and those of osm-edge: checkouts that the variables FSM and OSM_EDGE name.
const folder = makeFolder('as-deployed-test')

/** @param {import('vitest').TestContext} context @param {string} [variable] */
function needScripts(context, variable) {
  need(context, 'pipy', 'envoy', 'k6')
  if (process.getuid?.() !== 0) context.skip('needs root, to make network namespaces')
  if (variable && !process.env[variable]) context.skip(`needs ${variable}, which names the scripts of a mesh`)
}

/** @param {string} out @param {string[]} argv @param {Record<string, string | undefined>} [env] */
const run = (out, argv, env) =>
  execa(process.execPath, ['src/cli.js', 'bench', ...argv, '--profile', 'smoke', '--out', out], { reject: false, env })

const INTERCEPTED = ['--interception', 'redirect', '--measure', 'cost', '--users', '5']

describe('sidecars as meshes deploy them', { timeout: 300_000 }, () => {
  it('carry the load beside lean ones, and are compared as unequal work', async context => {
    needScripts(context, 'FSM')
    const out = path.join(folder, 'whole')
    const { exitCode, stderr } = await run(out, ['as-deployed', '--users', '5'])
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, ''])
    const { records, manifest } = readRun(out)
    expect(new Set(records.map(({ trial, load }) => `${trial.arm.profile} ${Number(load?.failed)}`))).toEqual(
      new Set(['null 0', 'fsm 0', 'osm-1.1 0', 'istio 0', ...(tools['linkerd2-proxy'] ? ['deployed 0'] : [])]),
    )
    expect(manifest.deployed?.map(({ plane }) => plane)).toEqual([
      ...['pipy:fsm', 'envoy:osm-1.1', 'envoy:istio'],
      ...(tools.ztunnel ? ['ztunnel:istio'] : []),
      ...(tools['linkerd2-proxy'] ? ['linkerd:deployed'] : []),
    ])
    const reasons = listComparisons(readSummary(out)).find(({ a, b }) => a === 'pipy' && b === 'pipy:fsm')?.reasons
    expect(reasons?.[0]).toMatch(/^unequal work: .*refusals/)
    for (const text of Object.values(readTextFiles(out))) expect(text).not.toContain('PRIVATE KEY')
    expectNothingLeft()
  })

  it('run the scripts of osm-edge alike', async context => {
    needScripts(context, 'OSM_EDGE')
    const out = path.join(folder, 'osm-edge')
    const planes = ['--planes', 'pipy:fsm', '--link', 'gateway-ratings']
    const { exitCode, stderr } = await run(out, ['cost', ...planes, ...INTERCEPTED], { FSM: process.env.OSM_EDGE })
    expect([exitCode, exitCode === 0 ? '' : stderr]).toEqual([0, ''])
    expect(readRun(out).records.map(({ load }) => load?.failed)).toContain(0)
  })

  it.for([
    { planes: 'pipy', workers: 2 },
    { planes: 'pipy:container', workers: 1 },
  ])('have, at 1.5 CPUs, $workers worker threads in $planes, which the record has as the kernel does', async (row, context) => {
    need(context, 'pipy', 'k6', 'caps')
    const { planes, workers } = row
    const out = path.join(folder, `threads-${workers}`)
    const argv = ['--planes', planes, '--measure', 'capacity', '--cpu', '1.5', '--link', 'ratings', '--users', '5']
    const child = run(out, argv)
    await awaitWindowStart(out)
    const pids = pidsOf('ratings-sidecar', out)
    expect(pids).toHaveLength(1)
    const running = listProcEntries(`/proc/${pids[0]}/task`).map(id => ({
      id: Number(id),
      name: readProcFile(`/proc/${pids[0]}/task/${id}/comm`).trim(),
    }))
    await child
    const [sidecar] = readRun(out).records[0].processes.filter(({ role }) => role === 'sidecar')
    expect(sidecar.threads.map(({ id, name }) => ({ id, name }))).toEqual(running)
    // Two threads of Pipy serve no requests.
    expect(running).toHaveLength(workers + 2)
    expect([sidecar.askedWorkers, sidecar.workers]).toEqual([workers, workers])
    expectNothingLeft(child.pid)
  })

  it('are left out with the reason without redirection, or without the scripts', async context => {
    needScripts(context)
    const planes = ['cost', '--planes', 'pipy:fsm']
    const direct = await run(path.join(folder, 'direct'), planes)
    expect(direct.stderr).toMatch(/nothing to measure: pipy:fsm: .*--interception redirect/)
    const scriptless = await run(path.join(folder, 'none'), [...planes, ...INTERCEPTED], { FSM: '' })
    expect(scriptless.stderr).toMatch(/nothing to measure: pipy:fsm: .*set FSM to a checkout/)
  })
})
