import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { verifyRun } from '../../../src/analysis/verify.js'
import { findResult } from '../../../src/model/results.js'
import { findFault, SCHEMAS } from '../../../src/model/schemas.js'
import { createFakeLoad, createFakeTarget } from '../../fakes/fake-bench.js'
import { createControlledPlane } from '../../fakes/fake-control.js'
import { runFake } from '../../fakes/fake-run.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { Control, ProcessSpec } from '../../../src/model/types.ts' */

const FIVE = [1, 2, 3, 4, 5].map(i => `backend-${i}`)
const text = `
name: fake
question: q
axes: { plane: [cheap], link: [gateway-ratings], cpuLimitCores: none, sidecars: [40], controlCpuLimitCores: [0.5], tls: [plaintext] }
load: { kind: idle }
grows: { deadlineSeconds: 20 }
targets: [local]
profiles: { standard: { rounds: 1, warmupSeconds: 0.01, windowSeconds: 0.05, hasControl: false } }
`
/** @type {Pick<Control, 'enrol'>} */
const enrolling = {
  enrol: ({ control: endpoint, model }) => [
    { kind: 'request', endpoint, method: 'POST', path: `/enrol/${model.service}`, body: '' },
  ],
}
const isOfSecond = (/** @type {{ url?: string }} */ { url }) => /^\/enrol\/\w+-2-/.test(`${url}`)
/** A target that answers no more from the second step on, when its control plane was killed. */
function killInSecond() {
  let isDead = false
  return {
    isDead: (/** @type {ProcessSpec} */ { role }) => role === 'control' && isDead,
    ending: (/** @type {ProcessSpec} */ { role }) => (role === 'control' && isDead ? 'signal SIGKILL' : null),
    statusOf(/** @type {{ url?: string }} */ request) {
      isDead ||= isOfSecond(request)
      return isDead ? 503 : 200
    },
  }
}
let folder = ''
beforeEach(() => {
  folder = makeFolder('growth')
})

/**
 * @param {Parameters<typeof createFakeTarget>[0]} [options] of the target @param {Partial<Control>} [control]
 * @param {string} [written] the experiment
 */
async function grow(options, control, written = text) {
  const target = await createFakeTarget({ backends: FIVE, ...options })
  const { summary, records } = await runFake({
    folder,
    target,
    text: written,
    planes: [createControlledPlane(control)],
  })
  expect(target.running.size).toBe(0)
  return { summary, record: records[0], target }
}

describe('a growth', () => {
  it('adds steps up to the requested number, and can be computed again', async () => {
    const { summary, record, target } = await grow({}, enrolling)
    expect(record).toMatchObject({ outcome: 'completed', window: null, ended: [] })
    expect(record.growth).toMatchObject({ sidecars: 40, sidecarsMost: 40, ended: null, hasControl: true })
    expect(record.growth.steps).toMatchObject([
      { sidecars: 20, converged: 20, backendsSeen: 5, controlAnonBytes: 1e6 },
      { sidecars: 40, converged: 20, backendsSeen: 5 },
    ])
    expect(target.deployed.map(({ service }) => service)).toEqual([...FIVE, 'mesh', 'step-1', 'step-2'])
    expect(findResult(summary, 'growth')?.growths).toMatchObject([
      { rounds: [{ sidecars: 40, failedAt: null }], sidecarsMost: 40 },
    ])
    expect(findFault(SCHEMAS.summary, summary)).toBeNull()
    const verify = () => verifyRun({ folder, findLoad: () => createFakeLoad() }).lines
    expect(verify().at(-1)).toMatch('all of them agree')

    const file = path.join(folder, 'raw', record.trial.id, 'growth.json')
    const growth = JSON.parse(readFileSync(file, 'utf8'))
    expect(findFault(SCHEMAS.growth, growth)).toBeNull()
    growth.steps[1].members[3].told.yesMs = null
    writeFileSync(file, JSON.stringify(growth))
    expect(verify().join('\n')).toMatch('differs: ')
  })

  it('ends if a client does not see every backend in time, and names it', async () => {
    const { record } = await grow({ backends: FIVE.slice(1) }, {}, text.replace('Seconds: 20', 'Seconds: 3'))
    expect(record).toMatchObject({ outcome: 'completed', growth: { sidecars: 0, ended: { sidecars: 20 } } })
    // The machine of the tests may have no CPU left.
    expect(['deadline', 'host-cpu']).toContain(record.growth.ended.reason)
    expect(record.growth.ended.why).toMatch(/client-1-1 \(4 of 5 backends\), .* and 5 more/)
  })

  it('ends as nack if the control plane refuses a configuration', async () => {
    const { record } = await grow({ statusOf: request => (isOfSecond(request) ? 500 : 200) }, enrolling)
    expect(record.growth).toMatchObject({ sidecars: 20, ended: { sidecars: 40, reason: 'nack' } })
    expect(record.growth.ended.why).toMatch(/POST \/enrol\/\w+-2-\d was answered 500/)
  })

  it.each(
    /** @type {const} */ ([
      [true, 'oom'],
      [false, 'ended'],
    ]),
  )('ends with the control plane, out of memory (%s) as %s', async (isOutOfMemory, reason) => {
    const { isDead, ...killed } = killInSecond()
    const options = { ...killed, isOutOfMemory: (/** @type {ProcessSpec} */ spec) => isOutOfMemory && isDead(spec) }
    const { record, summary } = await grow(options, enrolling)
    expect(record.growth).toMatchObject({ sidecars: 20, ended: { sidecars: 40, reason } })
    expect(record.growth.ended.why).toMatch('the control plane ended with signal SIGKILL')
    expect(record.ended).toEqual([{ service: 'mesh', role: 'control', how: 'signal SIGKILL', isOutOfMemory }])
    expect(findResult(summary, 'growth')?.growths[0].rounds).toMatchObject([{ failedAt: 40, reason }])
  })

  it('ends by the machine if that had no memory left, or a process no files', async () => {
    const { isDead, ...options } = killInSecond()
    const findHostLimit = (/** @type {ProcessSpec} */ spec) => (isDead(spec) ? 'the machine had no memory left' : null)
    const killed = await grow({ ...options, isOutOfMemory: isDead, findHostLimit }, enrolling)
    expect(killed.record.growth).toMatchObject({ sidecars: 20, ended: { sidecars: 40, reason: 'host-memory' } })
    folder = makeFolder('growth-files')
    const why = 'process 7 has 64 files open, and may have 64 (ulimit -n)'
    const { record, summary } = await grow(
      {
        findHostLimit: ({ role }) => (role === 'control' ? why : null),
        statusOf: request => (isOfSecond(request) ? 500 : 200),
      },
      enrolling,
    )
    expect(record.growth).toMatchObject({ sidecars: 20, ended: { sidecars: 40, reason: 'host-limit' } })
    expect(record.growth.ended.why).toMatch(why)
    expect(findResult(summary, 'growth')?.growths[0].rounds).toMatchObject([{ reason: 'host-limit' }])
  })

  it('ends at once if the control plane is frozen, before the deadline', async () => {
    let isFrozen = false
    const frozen = text.replace('Seconds: 20', 'Seconds: 60')
    const target = await createFakeTarget({
      backends: FIVE,
      isStopped: ({ role }) => role === 'control' && isFrozen,
      statusOf(request) {
        isFrozen ||= isOfSecond(request)
        return isFrozen && request.headers.host === 'split.test' ? 404 : 200
      },
    })
    const { records } = await runFake({ folder, target, text: frozen, planes: [createControlledPlane(enrolling)] })
    expect(records[0].growth.ended).toMatchObject({ sidecars: 40, reason: 'stopped' })
    expect(target.running.size).toBe(0)
  })

  it('fails if its own applications exit, without a result for the control plane', async () => {
    let isDead = false
    const { record } = await grow(
      {
        ending: ({ role }) => (role === 'application' && isDead ? 'status 1' : null),
        statusOf() {
          isDead = true
          return 404
        },
      },
      {},
      text.replace('Seconds: 20', 'Seconds: 3'),
    )
    expect(record).toMatchObject({ outcome: 'failed' })
    expect(record.reasons[0]).toMatch("backend-1's application died")
    expect(record.growth).toBeUndefined()
  })

  it('fails if the kernel reports another cap than requested', async () => {
    const { record } = await grow({ cpuLimitCores: () => null })
    expect(record.reasons[0]).toMatch('the control plane was to be capped at 0.5 cores, and the kernel says no quota')
  })

  it('needs no control plane', async () => {
    const { record, summary } = await grow({}, { createProcess: null })
    expect(record.growth).toMatchObject({
      sidecars: 40,
      hasControl: false,
      controlAnonBytes: { empty: null, peak: null },
    })
    expect(findResult(summary, 'growth')?.growths[0].memory).toBeNull()
  })
})
