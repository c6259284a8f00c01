import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { verifyRun } from '../../src/analysis/verify.js'
import { findFault, SCHEMAS } from '../../src/model/schemas.js'
import { assertConverged } from '../../src/run/rollout.js'
import { createFakeLoad, createFakePlane, createFakeTarget } from '../fakes/fake-bench.js'
import { runFake } from '../fakes/fake-run.js'

/** @import { Control, DataPlane, ProcessSpec } from '../../src/model/types.ts' */

const text = `
name: fake
question: q
axes: { plane: [cheap], link: [gateway-ratings], capCores: none, sidecars: [45], tls: [plaintext] }
load: { kind: idle }
targets: [local]
profiles: { standard: { rounds: 1, warmupSeconds: 0.01, windowSeconds: 0.05, hasControl: false } }
`
const few = text.replace('[45]', '[2]')
/** @type {string} */
let folder
beforeEach(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'rollout-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

/**
 * A plane whose sidecars answer from their start on.
 * @param {Partial<Control>} [control]
 * @returns {DataPlane}
 */
function createControlledPlane(control = {}) {
  const plane = createFakePlane('cheap')
  const create = /** @type {NonNullable<DataPlane['createSidecar']>} */ (plane.createSidecar)
  return {
    ...plane,
    control: {
      ...{ name: 'fake', findUnsupported: () => null },
      needsOf: () => ({ sidecarBytes: 0, controlBytes: 0, threads: 0 }),
      createProcess: ({ folder, control: endpoint }) =>
        /** @type {ProcessSpec} */ ({
          ...{ service: 'mesh', role: 'control', folder, program: '/fake/control', argv: [], env: {}, files: [] },
          ...{ scripts: [], credentials: [], listens: [endpoint], workers: 1, cpuCores: null },
          ...{ memoryLimitBytes: null, cpuSet: null, admin: null, image: null },
        }),
      setUp: () => [],
      enrol: () => [],
      createSidecar: options => {
        const { outbound } = options.model
        return {
          ...create(options),
          argv: ['run'],
          listens: outbound ? [{ address: outbound.address, port: outbound.port }] : [],
        }
      },
      stage: () => [],
      commit: ({ control: endpoint }) => [{ kind: 'request', endpoint, method: 'POST', path: '/commit', body: '' }],
      ...control,
    },
  }
}

describe('a rollout', () => {
  it('starts its sidecars in batches, waits for each, changes all, and can be computed again', async () => {
    const target = await createFakeTarget()
    const { summary, records } = await runFake({ folder, target, text, planes: [createControlledPlane()] })
    const [{ outcome, reasons, rollout, processes }] = records
    expect(
      reasons.filter((/** @type {string} */ reason) => !/^(resolution|probe-cost|neighbour)/.test(reason)),
    ).toEqual([])
    expect(outcome).toBe('completed')
    expect(rollout).toMatchObject({ sidecars: 45, first: { converged: 45 }, change: { converged: 45 } })
    expect(processes.map((/** @type {any} */ p) => [p.service, p.role, p.batchOf])).toEqual([
      ['ratings', 'application', undefined],
      ['mesh', 'control', undefined],
      ['gateways-1', 'sidecar', 40],
      ['gateways-2', 'sidecar', 5],
    ])
    // 1 MB of each batch.
    expect(summary.arms[0].rollout?.sidecarAnonBytes.median).toBeCloseTo(2e6 / 45)
    expect(target.running.size).toBe(0)
    const verify = () => verifyRun({ folder, findLoad: () => createFakeLoad() })
    expect(verify().lines.at(-1)).toMatch('all of them agree')

    const file = path.join(folder, 'raw', records[0].trial.id, 'rollout.json')
    const seen = JSON.parse(readFileSync(file, 'utf8'))
    expect(findFault(SCHEMAS.rollout, seen)).toBeNull()
    seen.members[3].change.yesMs += 1000
    writeFileSync(file, JSON.stringify(seen))
    expect(verify().lines.join('\n')).toMatch('differs: ')
  })

  it('reads a control plane that takes 2 s as 2 s', async () => {
    let committedMs = 0
    const target = await createFakeTarget({
      statusOf({ url, headers }) {
        if (url === '/commit') committedMs ||= Date.now()
        return headers.host === 'version-1.test' && Date.now() < committedMs + 2000 ? 404 : 200
      },
    })
    const { records } = await runFake({ folder, target, text: few, planes: [createControlledPlane()] })
    const { each, seconds } = records[0].rollout.change
    expect(each.p50).toBeGreaterThan(1.9)
    expect(each.max).toBeLessThan(3)
    expect(seconds).toBeGreaterThanOrEqual(1.99)
  })

  it('names a sidecar that never has its configuration, keeps what was seen, and tries no change', async () => {
    const target = await createFakeTarget({
      statusOf: ({ headers }) => (`${headers['x-nonce']}`.startsWith('gateway-2-') ? 404 : 200),
    })
    const { records } = await runFake({ folder, target, text: few, planes: [createControlledPlane()] })
    const [{ outcome, reasons, rollout }] = records
    expect(outcome).toBe('failed')
    expect(reasons[0]).toBe('not converged: gateway-2: 1 of 2 sidecars had its first configuration within 20 s')
    expect(rollout).toMatchObject({ sidecars: 2, first: { converged: 1, missing: ['gateway-2'], seconds: null } })
    expect(rollout.change).toBeUndefined()
    expect(target.running.size).toBe(0)
    const kept = JSON.parse(readFileSync(path.join(folder, 'raw', records[0].trial.id, 'rollout.json'), 'utf8'))
    expect(kept.members[1].first).toMatchObject({ yesMs: null, lastNoMs: expect.any(Number) })
  }, 40_000)

  it('names a control plane that is frozen', async () => {
    const target = await createFakeTarget({
      isStopped: ({ role }) => role === 'control',
      statusOf: ({ url }) => (url === '/commit' ? 500 : 200),
    })
    const { records } = await runFake({ folder, target, text: few, planes: [createControlledPlane()] })
    expect(records[0].reasons[0]).toMatch("mesh's control came to a stop while it was started")
  })

  it('says what the control plane answers', async () => {
    const target = await createFakeTarget({ statusOf: ({ url }) => (url === '/commit' ? 500 : 200) })
    const { records } = await runFake({ folder, target, text: few, planes: [createControlledPlane()] })
    expect(records[0].reasons[0]).toMatch('POST /commit was answered 500')
    expect(target.running.size).toBe(0)
  })

  it('fails where the control plane refuses a change, and leaves nothing', async () => {
    const target = await createFakeTarget()
    const commit = () => [/** @type {const} */ ({ kind: 'move', file: '/no/such/folder/routes/file', content: '' })]
    const { records } = await runFake({ folder, target, text, planes: [createControlledPlane({ commit })] })
    expect(records[0].outcome).toBe('failed')
    expect(records[0].reasons[0]).toMatch('/no/such/folder')
    expect(target.running.size).toBe(0)
  })
})

it('a rollout names the sidecars that did not have their configuration by the deadline', () => {
  const all = { converged: 20, missing: [] }
  const rollout = /** @type {any} */ ({ sidecars: 20, first: all, change: { converged: 19, missing: ['client-7'] } })
  expect(() => assertConverged({ ...rollout, change: all })).not.toThrow()
  expect(() => assertConverged(rollout)).toThrow(
    'not converged: client-7: 19 of 20 sidecars had the change of its configuration within 22 s',
  )
})
