import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { verifyRun } from '../../../src/analysis/verify.js'
import { assertRolloutConverged, computeDeadlineSeconds, createRolloutKind } from '../../../src/kinds/rollout/course.js'
import { renderArmName } from '../../../src/model/arms.js'
import { createProcess } from '../../../src/model/processes.js'
import { listArms } from '../../../src/model/results.js'
import { findFault, SCHEMAS } from '../../../src/model/schemas.js'
import { createPlace } from '../../../src/model/sidecar-contract.js'
import { createRolloutPoller } from '../../../src/node/rollout-poller.js'
import { createFakeLoad, createFakeTarget } from '../../fakes/fake-bench.js'
import { createControlledPlane } from '../../fakes/fake-control.js'
import { runFake } from '../../fakes/fake-run.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { IncomingMessage } from 'node:http' */
/** @import { Control, Endpoint, Handle, Target } from '../../../src/model/types.ts' */

const text = `
name: fake
question: q
axes: { plane: [cheap], link: [gateway-ratings], cpuLimitCores: none, sidecars: [45], tls: [plaintext] }
load: { kind: idle }
targets: [local]
profiles: { standard: { rounds: 1, warmupSeconds: 0.01, windowSeconds: 0.05, hasControl: false } }
`
/** The same with other axes. @param {string} axes */
const withAxes = axes => text.replace('sidecars: [45]', axes)
const few = withAxes('sidecars: [2]')
// Requests to the control plane at a time.
const CALLS_AT_ONCE = 4
let folder = ''
beforeEach(() => {
  folder = makeFolder('rollout')
})

/**
 * Runs a rollout of two sidecars, unless another text is given. Whatever comes of it, nothing is left running.
 * @param {{ target?: Awaited<ReturnType<typeof createFakeTarget>>, text?: string, control?: Partial<Control>,
 *   leastSeconds?: number, signal?: AbortSignal }} [options] leastSeconds: that a phase may take
 */
async function rollOut({ text = few, control, leastSeconds, signal, ...options } = {}) {
  const target = options.target ?? (await createFakeTarget())
  const planes = [createControlledPlane(control)]
  const kind = createRolloutKind(leastSeconds)
  const { records, summary } = await runFake({ folder, target, text, planes, kind, signal }).finally(() =>
    expect(target.running.size).toBe(0),
  )
  return { target, summary, record: records[0] }
}

const fileOf = (/** @type {any} */ { trial }) => path.join(folder, 'raw', trial.id, 'rollout.json')

/** Reads the raw times and counts of a rollout, which match their schema. @param {any} record */
function readRaw(record) {
  const raw = JSON.parse(readFileSync(fileOf(record), 'utf8'))
  expect(findFault(SCHEMAS.rollout, raw)).toBeNull()
  return raw
}

const verify = () => verifyRun({ folder, findLoad: () => createFakeLoad() }).lines
const expectAgreement = () => expect(verify().at(-1)).toMatch('all of them agree')

/**
 * A target on which each sidecar is a pod that is ready 50 ms after it was asked for, and answers at once.
 * @param {{ waitUntilReady?: Handle['waitUntilReady'], expectFirst?: () => Promise<null> }} [options] instead
 */
async function createPodTarget({ waitUntilReady, expectFirst } = {}) {
  const target = await createFakeTarget()
  const { deploy } = target
  const readyMs = async () => void (await new Promise(resolve => setTimeout(resolve, 50)))
  /** @type {string[]} */
  const requests = []
  const answer = async (/** @type {{ name: string, host: string }} */ { name, host }) => {
    requests.push(`${name} ${host}`)
    const sinceMs = performance.timeOrigin + performance.now()
    return { sinceMs, lastNoMs: sinceMs + 30, yesMs: sinceMs + 31, asked: 2 }
  }
  /** @type {Target['pods']} */
  const pods = {
    place: createPlace('0.0.0.0'),
    openRolloutPoller: async () => ({
      ...createRolloutPoller(),
      expectFirst: expectFirst ?? ((_, expected) => answer(expected)),
      expect: answer,
      countWaiting: () => 0,
    }),
  }
  return Object.assign(target, {
    pods,
    requests,
    /** @type {Target['deploy']} */
    async deploy(specs, { onStart, ...at }) {
      if (!onStart) return deploy(specs, at)
      const made = await deploy(
        specs.map(spec => ({ ...spec, listens: [] })),
        at,
      )
      for (const [i, process] of made.processes.entries()) {
        const pod = { uid: `u${i}`, createdMs: performance.timeOrigin + performance.now() }
        onStart({ ...process, spec: specs[i], pod, waitUntilReady: waitUntilReady ?? readyMs })
      }
      return made
    },
  })
}

describe('a rollout on a cluster', () => {
  it('makes a pod of each sidecar, and records when it was ready apart from its configuration', async () => {
    const target = await createPodTarget()
    const { outcome, rollout, processes } = (await rollOut({ target })).record
    expect(outcome).toBe('completed')
    expect(processes.map((/** @type {any} */ p) => [p.service, p.batchOf]).slice(2)).toEqual([
      ['gateway-1', 1],
      ['gateway-2', 1],
    ])
    expect(target.requests).toEqual(
      [0, 1].flatMap(version => ['gateway-1', 'gateway-2'].map(name => `${name} version-${version}.test`)),
    )
    expect(rollout).toMatchObject({ first: { converged: 2 }, change: { converged: 2 }, pods: { ready: 2 } })
    expect(rollout.pods.readySeconds.p50).toBeGreaterThan(0.045)
    expect(rollout.first.each.p50).toBeCloseTo(0.031)
    expectAgreement()
  })

  it('ends with the reason of a pod that does not start', async () => {
    const why = 'gateway-2-sidecar does not start: no node takes the pod'
    const target = await createPodTarget({ waitUntilReady: () => Promise.reject(new Error(why)) })
    const { record } = await rollOut({ target })
    expect(record).toMatchObject({ outcome: 'failed', reasons: [why, expect.any(String)] })
  })

  it('says that no sidecar was seen to start', async () => {
    const target = await createPodTarget({ expectFirst: async () => null })
    const { record } = await rollOut({ target })
    expect(record.reasons[0]).toBe('no sidecar was seen to start within 22 s, though its pod was made')
  })
})

describe('services that are removed again', () => {
  it('come by the change and go by another, and leave the first configuration without them', async () => {
    /** @type {number[]} */
    const known = []
    /** @type {Control['stage']} */
    const stage = ({ model }) => {
      known.push(model.clusters.length)
      return []
    }
    const axes = 'sidecars: [2], configuredServices: [30], areServicesRemoved: [true]'
    const { rollout } = (await rollOut({ text: withAxes(axes), control: { stage } })).record
    expect(known.map(count => count - Math.min(...known))).toEqual(
      [1, 2, 3, 4].flatMap(version => (version % 2 === 1 ? [30, 30] : [0, 0])),
    )
    expect(rollout.withdrawal).toMatchObject({ converged: 2, sidecarBytes: { before: 1e6, told: 1e6, toldAgain: 1e6 } })
    expect(rollout.withdrawal?.controlBytes.told).toEqual(expect.any(Number))
    expectAgreement()
  }, 20_000)

  it('are refused if there are none', async () => {
    const text = withAxes('sidecars: [2], areServicesRemoved: [true]')
    await expect(rollOut({ text })).rejects.toThrow('none can be removed: leave --remove-services out')
  })
})

describe('a rollout', () => {
  it('starts its sidecars in batches, waits for each, changes all, and can be computed again', async () => {
    const { summary, record } = await rollOut({ text })
    const { outcome, reasons, rollout, processes } = record
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
    expect(listArms(summary)[0].rollout?.sidecarAnonBytes.median).toBeCloseTo(2e6 / 45)
    expectAgreement()

    const raw = readRaw(record)
    raw.members[3].change.yesMs += 1000
    writeFileSync(fileOf(record), JSON.stringify(raw))
    expect(verify().join('\n')).toMatch('differs: ')
  })

  it('gives its limits to the control plane alone', async () => {
    const axes = 'sidecars: [2], controlCpuLimitCores: [0.5], controlMemoryBytes: [67108864]'
    const { target } = await rollOut({ text: withAxes(axes) })
    expect(
      target.deployed.map(({ role, cpuLimitCores, memoryLimitBytes }) => [role, cpuLimitCores, memoryLimitBytes]),
    ).toEqual([
      ['application', null, null],
      ['control', 0.5, 2 ** 26],
      ['sidecar', null, null],
    ])
  })

  it('gives each sidecar to a shard, and changes it there', async () => {
    /** @type {Record<string, Set<string>>} */
    const addresses = {}
    const note = (/** @type {string} */ what, /** @type {Endpoint} */ { address }) => {
      addresses[what] = (addresses[what] ?? new Set()).add(address)
      return []
    }
    const { target, record, summary } = await rollOut({
      text: withAxes('sidecars: [5], shards: [2], commitsPerSecond: [10], commitsAtOnce: [1]'),
      control: {
        setUp: ({ control }) => note('set up', control),
        enrol: ({ control, model }) => note(model.service, control),
        commit: ({ control, model }) => note(model.service, control),
      },
    })
    const { processes, rollout, reasons, outcome } = record
    expect(outcome, reasons.join()).not.toBe('failed')
    const controls = target.deployed.filter(({ role }) => role === 'control')
    expect(controls.map(({ service, folder }) => [service, path.basename(folder)])).toEqual([
      ['mesh-1', 'mesh-1'],
      ['mesh-2', 'mesh-2'],
    ])
    expect(processes.filter((/** @type {any} */ p) => p.role === 'control')).toHaveLength(2)
    const [first, second] = controls.map(({ listens: [{ address }] }) => address)
    expect(addresses['set up']).toEqual(new Set([first, second]))
    // Round-robin; enrolment and commit went to the same.
    for (const i of [1, 2, 3, 4, 5]) expect(addresses[`gateway-${i}`]).toEqual(new Set([i % 2 ? first : second]))
    expect(rollout.first.shardCpuSeconds).toHaveLength(2)
    expect(readRaw(record).members.map((/** @type {any} */ member) => member.shard)).toEqual([0, 1, 0, 1, 0])
    // Five commits at 10 a second, of which the first may be late.
    expect(rollout.change.toldSeconds).toBeGreaterThan(0.2)
    expect(listArms(summary)[0].rollout?.shardSpread.median).toEqual(expect.any(Number))
  })

  describe('of which the last shard is removed', () => {
    /** @param {{ statusOf?: (request: IncomingMessage) => number, leastSeconds?: number, signal?: AbortSignal }} [options] */
    async function runRemoval({ statusOf, ...options } = {}) {
      /** @type {Record<string, string[]>} */
      const enrolled = {}
      /** @type {Control['enrol']} */
      const enrol = ({ control, model }) => {
        const hosts = model.outbound?.routes.map(({ host }) => host) ?? []
        enrolled[model.service] = [...(enrolled[model.service] ?? []), `${control.address} ${hosts.at(-1)}`]
        return [{ kind: 'request', endpoint: control, method: 'POST', path: '/enrol', body: '' }]
      }
      const text = withAxes('sidecars: [6], shards: [3], isShardRemoved: [true]')
      const target = await createFakeTarget({ statusOf })
      return { enrolled, ...(await rollOut({ target, text, control: { enrol }, ...options })) }
    }

    it('ends it alone, starts what moves at its new shard, and keeps the others as they are', async () => {
      const { target, enrolled, record } = await runRemoval()
      const { outcome, reasons, rollout, processes } = record
      expect(outcome, reasons.join()).not.toBe('failed')
      const [one, two, three] = target.deployed
        .filter(({ role }) => role === 'control')
        .map(({ listens: [{ address }] }) => address)
      // By rank modulo 3, then 2: 0 and 1 stay.
      expect(enrolled).toEqual({
        'gateway-1': [`${one} version-0.test`],
        'gateway-2': [`${two} version-0.test`],
        'gateway-3': [`${three} version-0.test`, `${one} version-2.test`],
        'gateway-4': [`${one} version-0.test`, `${two} version-2.test`],
        'gateway-5': [`${two} version-0.test`, `${one} version-2.test`],
        'gateway-6': [`${three} version-0.test`, `${two} version-2.test`],
      })
      expect(processes.map((/** @type {any} */ p) => [p.service, p.batchOf])).toEqual([
        ['ratings', undefined],
        ['mesh-1', undefined],
        ['mesh-2', undefined],
        ['gateways-1', 2],
        ['gateways-moved-1', 4],
      ])
      expect(rollout.removal).toMatchObject({ moved: 4, converged: 4, stayed: 2, silent: [] })
      expect(rollout.removal.shardCpuSeconds).toHaveLength(2)
      expect(rollout.first.shardCpuSeconds).toHaveLength(3)
      const { members } = readRaw(record)
      const movedTo = Object.fromEntries(members.map((/** @type {any} */ m) => [m.name, m.movedTo]))
      expect(movedTo).toEqual({ 'gateway-3': 0, 'gateway-4': 1, 'gateway-5': 0, 'gateway-6': 1 })
      expectAgreement()
    })

    it('spoils the trial if one that need not move does not go on answering', async () => {
      const statusOf = (/** @type {IncomingMessage} */ { headers }) =>
        `${headers['x-nonce']}`.startsWith('gateway-2-stays') ? 503 : 200
      const { record } = await runRemoval({ statusOf })
      expect(record.rollout.removal.silent).toEqual(['gateway-2'])
      expect(record.reasons.join()).toMatch('1 of 2 sidecars that need not move did not go on answering: gateway-2')
      expect(record.outcome).toBe('invalid')
    })

    it('names a sidecar that has no configuration at its new shard by the deadline', async () => {
      const statusOf = (/** @type {IncomingMessage} */ { headers }) =>
        headers.host === 'version-2.test' && `${headers['x-nonce']}`.startsWith('gateway-5') ? 404 : 200
      const { record } = await runRemoval({ statusOf, leastSeconds: 2 })
      expect(record.reasons[0]).toBe(
        'not converged: gateway-5: 3 of 4 sidecars that moved had the configuration of its new shard within 3 s',
      )
      expect(record.rollout.change).toMatchObject({ converged: 6 })
    })

    it('leaves nothing on Ctrl-C while sidecars move', async () => {
      const stop = new AbortController()
      const statusOf = (/** @type {IncomingMessage} */ { headers }) => {
        if (headers.host !== 'version-2.test') return 200
        stop.abort(new Error('interrupted'))
        return 404
      }
      await expect(runRemoval({ statusOf, signal: stop.signal })).rejects.toThrow('interrupted')
    })

    it('leaves nothing if a shard that is left refuses those that move', async () => {
      let enrolments = 0
      const statusOf = (/** @type {IncomingMessage} */ { url }) => (url === '/enrol' && ++enrolments > 6 ? 500 : 200)
      const { record } = await runRemoval({ statusOf })
      expect(record.reasons[0]).toMatch('POST /enrol was answered 500')
    })
  })

  it('simulates those beyond the real ones, after as many real and simulated as are real were held against each other', async () => {
    // The fake's CPU time is of the readings, whose number is the wall's: it can be compared where it is none.
    /** @type {number[]} */
    const commits = []
    const target = await createFakeTarget({
      cores: ({ role }) => (role === 'control' ? 0 : 0.1),
      statusOf({ url }) {
        // The five of the real ones are slow: the fifth begins 120 ms after the first.
        if (url === '/commit' && commits.push(performance.now()) <= 5)
          while (performance.now() < commits[commits.length - 1] + 120);
        return 200
      },
    })
    /** @type {string[][]} */
    const simulated = []
    const simulates = /** @type {Control['simulates']} */ ({
      ...{ realMost: 5, bytes: 0 },
      createProcess({ names, listen, folder }) {
        simulated.push(names)
        const [service, role] = ['simulated', /** @type {const} */ ('application')]
        return createProcess({ service, role, folder, program: '/fake/clients', argv: [], listens: [listen] })
      },
    })
    const { record, summary } = await rollOut({ target, control: { simulates }, text: withAxes('sidecars: [8]') })
    const { rollout, processes, trial, reasons, gates } = record
    expect(rollout, reasons.join()).toMatchObject({
      sidecars: 8,
      simulated: 3,
      first: { converged: 5, isOfSimulated: true },
    })
    expect(rollout.change).toMatchObject({ converged: 5, isOfSimulated: true })
    expect(simulated).toEqual([
      ['gateway-2', 'gateway-3', 'gateway-4', 'gateway-5'],
      ['gateway-6', 'gateway-7', 'gateway-8'],
    ])
    // Five real, as many in the trial of simulated ones, and all: the simulated are changed at the pace of the real.
    expect(commits).toHaveLength(5 + 5 + 8)
    // All eight together: a timer that fires late is made up for by those after it, so that a quarter of the time is enough.
    expect(commits[17] - commits[10]).toBeGreaterThan(30)
    expect(rollout.fidelity).toMatchObject({ sidecars: 5, anonBytes: { real: 0, simulated: 0 } })
    expect(gates.map((/** @type {any} */ { gate }) => gate)).not.toContain('fidelity')
    expect(processes.map((/** @type {any} */ p) => p.service)).toEqual(['ratings', 'mesh', 'gateways-1', 'simulated'])
    expect(processes[2].batchOf).toBe(5)
    expect(renderArmName(trial.arm)).toBe('cheap (3 of 8 simulated)')
    // Of the 5 real ones alone.
    expect(listArms(summary)[0].rollout?.sidecarAnonBytes.median).toBeCloseTo(1e6 / 5)
    expectAgreement()
  })

  it('reads a control plane that takes 2 s as 2 s', async () => {
    let committedMs = 0
    const target = await createFakeTarget({
      statusOf({ url, headers }) {
        if (url === '/commit') committedMs ||= Date.now()
        return headers.host === 'version-1.test' && Date.now() < committedMs + 2000 ? 404 : 200
      },
    })
    const { each, seconds } = (await rollOut({ target })).record.rollout.change
    expect(each.p50).toBeGreaterThan(1.9)
    expect(each.max).toBeLessThan(3)
    expect(seconds).toBeGreaterThanOrEqual(1.99)
  })

  it('names a sidecar that never has its configuration, keeps what was seen, and tries no change', async () => {
    const target = await createFakeTarget({
      statusOf: ({ headers }) => (`${headers['x-nonce']}`.startsWith('gateway-2-') ? 404 : 200),
    })
    const { record } = await rollOut({ target, leastSeconds: 2 })
    const { outcome, reasons, rollout } = record
    expect(outcome).toBe('failed')
    expect(reasons[0]).toBe('not converged: gateway-2: 1 of 2 sidecars had its first configuration within 2 s')
    expect(rollout).toMatchObject({ sidecars: 2, first: { converged: 1, missing: ['gateway-2'], seconds: null } })
    expect(rollout.change).toBeUndefined()
    expect(readRaw(record).members[1].first).toMatchObject({ yesMs: null, lastNoMs: expect.any(Number) })
  })

  it('names a control plane that is frozen', async () => {
    const target = await createFakeTarget({
      isStopped: ({ role }) => role === 'control',
      statusOf: ({ url }) => (url === '/commit' ? 500 : 200),
    })
    const { record } = await rollOut({ target })
    expect(record.reasons[0]).toMatch("mesh's control came to a stop while it was started")
  })

  it('ends as soon as a sidecar does not accept its configuration, with what it says', async () => {
    const target = await createFakeTarget({
      statusOf: ({ headers }) => (headers.host === 'version-0.test' ? 404 : 200),
      readLog: ({ role }) => (role === 'control' ? 'refused gateway-1: no such cluster' : ''),
    })
    const parseRefusals = (/** @type {string} */ log) => log.split('refused ').slice(1)
    const { record } = await rollOut({ target, control: { parseRefusals } })
    expect(record.reasons[0]).toBe('nack: a sidecar did not accept its configuration: gateway-1: no such cluster')
  }, 15_000)

  it('says what the control plane answers', async () => {
    const target = await createFakeTarget({ statusOf: ({ url }) => (url === '/commit' ? 500 : 200) })
    const { record } = await rollOut({ target })
    expect(record.reasons[0]).toMatch('POST /commit was answered 500')
  })

  it('fails if the control plane refuses a change, and leaves nothing', async () => {
    const commit = () => [/** @type {const} */ ({ kind: 'move', file: '/no/such/folder/routes/file', content: '' })]
    const { record } = await rollOut({ text, control: { commit } })
    expect(record.outcome).toBe('failed')
    expect(record.reasons[0]).toMatch('/no/such/folder')
  })

  it.each([
    'enrol',
    'stage',
    'commit',
  ])('on Ctrl-C while it is in %s of one of many, begins no more, and leaves nothing', async step => {
    const stop = new AbortController()
    let requests = 0
    const target = await createFakeTarget({
      statusOf({ url }) {
        if (url === '/step' && ++requests === 6) stop.abort(new Error('interrupted'))
        return 200
      },
    })
    /** @type {Control['enrol']} */
    const ask = ({ control: endpoint }) => [{ kind: 'request', endpoint, method: 'POST', path: '/step', body: '' }]
    const rolling = rollOut({ target, text, control: { [step]: ask }, signal: stop.signal })
    await expect(rolling).rejects.toThrow('interrupted')
    const atEnd = requests
    expect(atEnd).toBeLessThan(6 + CALLS_AT_ONCE)
    await delay(50)
    expect(requests).toBe(atEnd)
  })

  it('on Ctrl-C while a batch waits for the one before, starts no more, and leaves nothing', async () => {
    const stop = new AbortController()
    let refused = 0
    const target = await createFakeTarget({
      statusOf({ headers }) {
        if (headers.host !== 'version-0.test') return 200
        if (++refused === 60) stop.abort(new Error('interrupted'))
        return 404
      },
    })
    await expect(rollOut({ target, text, signal: stop.signal })).rejects.toThrow('interrupted')
  })

  it('names the sidecars of a batch that waits for the one before until the deadline, and tries no change', async () => {
    const target = await createFakeTarget({
      statusOf: ({ headers }) => (headers.host === 'version-0.test' ? 404 : 200),
    })
    const { deploy } = target
    let paced = 0
    target.deploy = (specs, how) => {
      const { pace } = how
      if (!pace) return deploy(specs, how)
      return deploy(specs, {
        ...how,
        pace() {
          if (++paced === 1) return pace()
          const clock = vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 3_600_000)
          const pacing = pace()
          clock.mockRestore()
          return pacing
        },
      })
    }
    const { outcome, reasons, rollout } = (await rollOut({ target, text, leastSeconds: 1 })).record
    expect(paced).toBe(2)
    expect(outcome).toBe('failed')
    expect(reasons[0]).toMatch(
      /^not converged: gateway-1, .*: 0 of 45 sidecars had its first configuration within 6 s$/,
    )
    expect(rollout.first).toMatchObject({ converged: 0, seconds: null })
    expect(rollout.change).toBeUndefined()
  })
})

it('a rollout names the sidecars that did not have their configuration by the deadline', () => {
  const all = { converged: 20, missing: [] }
  const rollout = /** @type {any} */ ({ sidecars: 20, first: all, change: { converged: 19, missing: ['client-7'] } })
  expect(() => assertRolloutConverged({ ...rollout, change: all }, 22)).not.toThrow()
  expect(() => assertRolloutConverged(rollout, 22)).toThrow(
    'not converged: client-7: 19 of 20 sidecars had the change of its configuration within 22 s',
  )
  const mixed = { ...rollout, simulated: 15, change: { ...all, converged: 5, isOfSimulated: true } }
  expect(() => assertRolloutConverged({ ...mixed, first: mixed.change }, 22)).not.toThrow()
  const late = { ...mixed, first: mixed.change, change: { converged: 4, missing: ['client-2'] } }
  expect(() => assertRolloutConverged(late, 22)).toThrow(
    'not converged: client-2: 4 of 5 real sidecars had the change of its configuration within 22 s',
  )
  expect(() => assertRolloutConverged({ ...mixed, first: { ...mixed.change, isOfSimulated: false } }, 22)).toThrow(
    'not converged: not all of 15 simulated sidecars had its first configuration within 22 s',
  )
})

it('the deadline of a phase is longer for more sidecars, for pods, and for simulated sidecars that come slowly', () => {
  const leastSeconds = 20
  expect(computeDeadlineSeconds({ leastSeconds, sidecars: 20 })).toBe(22)
  expect(computeDeadlineSeconds({ leastSeconds, sidecars: 20, arePods: true })).toBe(40)
  // 1570 of them, one in 0.7 s: the last comes 18 minutes after the first.
  expect(computeDeadlineSeconds({ leastSeconds, sidecars: 1600, simulated: 1570, everyMs: 700 })).toBe(20 + 160 + 1099)
})
