import { describe, expect, it } from 'vitest'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { loadGenerators } from '../../src/loads/registry.js'
import { parsePlanes } from '../../src/prepare/option-parsers.js'
import { planRun } from '../../src/prepare/plan-run.js'
import { createPlanRequest } from '../../src/prepare/prepare-run.js'
import { listExperiments, readAnyExperiment, readExperiment } from '../../src/prepare/read-experiment.js'
import { renderPlan } from '../../src/report/plan.js'
import { PROFILES } from '../../src/request/experiment.js'
import { cli } from '../fakes/cli.js'

/** @param {string} name @param {Record<string, unknown>} [options] */
const ask = (name, options) =>
  createPlanRequest(readExperiment(name), { profile: 'standard', pin: true, seed: 1, maxMinutes: 60, ...options })
/** @param {number} count */
const coresOf = count => Array.from({ length: count }, (_, cpu) => [cpu])
const LOADED = { planes: await loadPlanes(), loads: await loadGenerators() }
const SITE = { cpus: 16, cores: coresOf(16) }
/** @param {string} name @param {Record<string, unknown>} [options] @param {Parameters<typeof planRun>[0]['site']} [site] */
const planWith = (name, options, site = SITE) => planRun({ ...ask(name, options), ...LOADED, site })

describe('renderPlan', () => {
  it.each([
    ['knee', 'Arms, each open loop at the rates that the search tries, link'],
    ['memory-floor', 'Arms, each open loop of 200 requests/s, link'],
    ['cap', 'Arms, each closed loop, link'],
  ])('says of %s what drives the arms', (name, words) => {
    const { plan } = planWith(name)
    expect(renderPlan(plan, 60)).toContain(words)
  })

  it('says how long arms are warmed up, if a small CPU request takes longer', () => {
    const render = (/** @type {string} */ name) => renderPlan(planWith(name, {}).plan, 60).replaceAll(/\s+/g, ' ')
    expect(render('cpu-request')).toContain('1024 bytes, 2.88 to 6.4 s warm-up and 10.5 s window')
    expect(render('rate-ladder')).toContain(' s warm-up and')
    expect(render('cost')).not.toMatch(/ to \d+ s warm-up/)
  })

  it('says that connections are redirected, where they are', () => {
    const render = (/** @type {Record<string, unknown>} */ more) => renderPlan(planWith('cost', more).plan, 60)
    expect(render({ interception: ['redirect'] })).toContain('link gateway-ratings, redirection, no cap')
    expect(render({})).toContain('link gateway-ratings, no cap')
  })
})

describe('the turns of planes that meshes deploy', () => {
  it('keep the connections of each open, and are those of other experiments without Linkerd', () => {
    const { plan } = planWith('as-deployed', { interception: ['redirect'] })
    expect(new Set(plan.arms.map(({ load }) => load.sliceMs))).toEqual(new Set([300]))
    expect(plan.notes).toContain(
      'turns of 300 ms instead of 500: linkerd:deployed closes connections that were idle for 3 s',
    )
    const planes = parsePlanes('pipy,pipy:fsm,envoy,envoy:osm-1.1,envoy:istio,ztunnel:istio,linkerd')
    const others = planWith('as-deployed', { interception: ['redirect'], planes }).plan
    expect(new Set(others.arms.map(({ load }) => load.sliceMs))).toEqual(new Set([500]))
    expect(others.notes.join()).not.toContain('idle')
  })
})

describe('planRun', () => {
  it('is of experiments that measure', () => {
    expect(() => ask('balance')).toThrow('balance measures nothing, and is computed at once: npm run bench -- balance')
  })

  const measured = listExperiments().filter(name => !('kind' in readAnyExperiment(name)))
  const cases = measured.flatMap(name => Object.keys(PROFILES).map(profile => ({ name, profile })))
  it.each(cases)('plans $name with profile $profile, for all links of the profile', ({ name, profile }) => {
    const { plan, layout } = planWith(name, { profile })
    const links = new Set(plan.arms.map(arm => arm.link))
    expect(new Set(Object.keys(layout.topologies))).toEqual(links)
    for (const arm of [...plan.arms, ...plan.calibrations]) layout.placementOf(arm)
  })

  it('refuses a cap above the quota of the job, and says what shares it', () => {
    const limits = {
      ...{ memoryBytes: 2 ** 34, threads: 1e6, threadsUsed: 0, files: 1e6, ports: 28_000 },
      ...{ inotifyInstances: 1e6, inotifyInstancesUsed: 0, quota: { cores: 0.5, folder: '/sys/fs/cgroup/job' } },
    }
    const what = 'this job or container may use 0.5 cores in all (the quota of /sys/fs/cgroup/job)'
    const plan = (/** @type {number} */ cpu) => planWith('cap', { cpu: [cpu] }, { ...SITE, limits })
    expect(plan(0.5).plan.notes).toContain(`${what}: sidecars, applications and the load share them`)
    expect(() => plan(1)).toThrow(`--cpu 1: ${what}; give at most 0.5, raise that quota, or give --cpu none`)
  })

  it('refuses a rollout that the pods of a node cannot be, with the arithmetic', () => {
    const limits = {
      ...{ node: 'n1', pods: 110, podsUsed: 10, memoryBytes: 2 ** 34, memoryRequestedBytes: 0 },
      ...{ cpus: 2, cpusRequested: 0 },
    }
    const site = { cpus: 2, cores: [], limits }
    const plan = (/** @type {string} */ planes, /** @type {number} */ sidecars, more = {}) =>
      planWith('rollout', { target: 'kubernetes', planes: parsePlanes(planes), sidecars: [sidecars], ...more }, site)
    expect(plan('pipy', 96).plan.arms.map(({ conditions }) => conditions.sidecars)).toEqual([96])
    expect(() => plan('pipy', 97)).toThrow('97 sidecars take 111 of pods (97 × 1 + 14), and the node n1 has 110')
    expect(() => plan('envoy@file', 20)).toThrow('its sidecars watch files, which nobody can change in a pod that runs')
    expect(() => plan('pipy', 20, { shards: [2], removeShard: true })).toThrow(
      'a sidecar that moves to another shard is started anew, which the kit does on one machine only',
    )
    expect(() => plan('pipy', 20, { samples: 'kubelet' })).toThrow(
      '--samples kubelet: rollout needs the reader on the node',
    )
    // Pods of other experiments are the scheduler's matter.
    expect(planWith('hops', { target: 'kubernetes' }, site).plan.arms.length).toBeGreaterThan(0)
  })

  it('leaves out the control whose program is missing, for one sidecar as for many', () => {
    for (const name of ['reload', 'rollout']) {
      const request = ask(name, { planes: parsePlanes('pipy,envoy'), control: ['repo', 'ads'], profile: 'smoke' })
      const { plan } = planRun({ ...request, ...LOADED, site: SITE, lacks: { ads: 'no Go' } })
      expect(plan.notMeasured, name).toEqual([expect.objectContaining({ reason: expect.stringContaining('no Go') })])
      expect(new Set(plan.arms.map(arm => `${arm.plane}@${arm.control}`)), name).toEqual(new Set(['pipy@repo']))
    }
  })

  it('changes one sidecar of every plane, and starts many of those whose needs are known', () => {
    const planes = parsePlanes('haproxy,nginx@file')
    const { plan } = planWith('reload', { planes, profile: 'smoke' })
    expect(new Set(plan.arms.map(({ plane }) => plane))).toEqual(new Set(['haproxy', 'nginx']))
    for (const name of ['rollout', 'grow'])
      expect(() => planWith(name, { planes }), name).toThrow('the kit has no control plane for many of its sidecars')
  })

  it('refuses a generator for a load that it cannot make, and takes it for the others', () => {
    expect(() => planWith('cap', { generator: 'wrk', rate: [100] })).toThrow(
      '--generator wrk: this load is an open loop, and wrk has no arrival rate',
    )
    expect(() => planWith('rate-ladder', { generator: 'wrk' })).toThrow('open loop')
    expect(planWith('cap', { generator: 'wrk' }).plan.arms.length).toBeGreaterThan(0)
    expect(planWith('idle', { generator: 'wrk' }).plan.arms.length).toBeGreaterThan(0)
  })

  it('names wrk if sidecars bind beside it only', () => {
    const notesOf = (/** @type {Record<string, unknown>} */ options) =>
      planWith('cap', options, { cpus: 2, cores: [] }).plan.notes.join()
    expect(notesOf({ cpu: [1], link: ['ratings'] })).toContain('add --generator wrk')
    for (const other of [
      { cpu: [1], link: ['ratings'], generator: 'wrk' },
      { cpu: [1], link: ['gateway-ratings'] },
      { cpu: [0.5], link: ['ratings'] },
      { cpu: [1], link: ['ratings'], rate: [100] },
    ])
      expect(notesOf(other), JSON.stringify(other)).not.toContain('wrk')
  })

  it('counts no CPU here for a load from elsewhere', () => {
    const planOf = (/** @type {Record<string, unknown>} */ options, name = 'cap') =>
      planWith(name, { cpu: [1], link: ['ratings'], ...options }, { cpus: 2, cores: coresOf(2) })
    expect(planOf({}).plan.notes.join()).toMatch(
      /can hardly reach it on 2 CPUs.*generator, applications and sidecars share/,
    )
    const { plan, layout } = planOf({ loadHost: 'sam@there' })
    expect(plan.notes).toEqual([])
    expect(layout.placementOf(plan.arms[0])).toEqual({ sidecar: [0], application: [1], generator: [] })
  })

  it('refuses from elsewhere what needs more than one address at a time', () => {
    const plan =
      (/** @type {string} */ name, options = {}) =>
      () =>
        planWith(name, { loadHost: 'sam@there', ...options })
    expect(plan('soak')).toThrow('--load-host: leave it out, the load goes to one address, and soak keeps')
    expect(plan('cap', { services: [2] })).toThrow('and none has one for each of 2 copies')
    expect(plan('cap', { services: [2], planes: [{ plane: 'pipy', variant: null, profile: null }] })).not.toThrow()
  })

  it('says of CPUs what is so: enough, too few, or none that can be given out', () => {
    const notesOn = (/** @type {number} */ cpus, cores = coresOf(cpus)) =>
      planWith('cap', { cpu: [0.25] }, { cpus, cores }).plan.notes.join()
    expect(notesOn(16)).toBe('')
    expect(notesOn(2)).toContain('2 CPUs are too few to give each its own')
    expect(notesOn(16, [])).toContain('they cannot be given out here')
  })
})

describe('a verb named as an experiment', () => {
  it.for(['plan', 'bench'])('is refused by %s, which prints what to type', async verb => {
    const { stderr, exitCode } = await cli(verb, 'size')
    expect(stderr).toContain('"size" is a verb, and no experiment: ')
    expect(stderr).toContain('--rate 500 --p99 20ms --dry-run')
    expect(exitCode).toBe(2)
  })

  it('is no name that every object has', async () => {
    expect((await cli('plan', 'constructor')).stderr).toContain('unknown experiment "constructor"')
  })

  it('prints its plan by size --dry-run, and measures nothing', async () => {
    const words = '--rate 120 --response 14KiB --service-time 30ms --p99 80ms --planes pipy,envoy --dry-run'
    const { stdout, stderr, exitCode } = await cli('size', ...words.split(' '))
    expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 })
    expect(stdout.replaceAll(/\s+/g, ' ')).toMatch(
      /^size: a search for the limits of each of 2 arms, downwards, about 6 trials an arm, about 3 min, up to 14 min on a busy machine /,
    )
    expect(stdout).toContain('Which CPU and memory limit holds 120 requests/s with a p99 of at most 80 ms?')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('open loop of 120 requests/s')
  })
})

describe('a folder with a pipeline.yaml', () => {
  const FOLDER = 'test/pipelines/envoy'

  it('is planned as it would run: alone before an application, in a network namespace', async () => {
    const words = `--rate 120 --p99 80ms --planes proxy=${FOLDER} --dry-run`
    const { stdout, stderr } = await cli('size', ...words.split(' '))
    expect(stderr).toBe('')
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('open loop of 120 requests/s, link ratings, no redirection,')
  })

  it.each([
    ['--link pair', 'pipeline.yaml: --link pair: a pipeline.yaml describes one proxy before one application'],
    ['--tls rsa-2048', 'pipeline.yaml: --tls rsa-2048: where TLS is spoken the file says'],
    ['--features all', 'pipeline.yaml: --features all: it has the features of its scripts'],
  ])('is refused by size with %s', async (option, message) => {
    const words = `--rate 120 --p99 80ms --planes proxy=${FOLDER} --dry-run ${option}`
    const { stderr, exitCode } = await cli('size', ...words.split(' '))
    expect(stderr).toContain(message)
    expect(exitCode).toBe(2)
  })

  it('is redirected by size where that is asked for', async () => {
    const words = `--rate 120 --p99 80ms --planes proxy=${FOLDER} --interception redirect --dry-run`
    const { stdout } = await cli('size', ...words.split(' '))
    expect(stdout.replaceAll(/\s+/g, ' ')).toContain('link ratings, redirect')
  })

  it('is refused what it would be refused in a run', async () => {
    const { stderr, exitCode } = await cli('plan', 'cost', '--planes', `proxy=${FOLDER}`, '--link', 'pair')
    expect(stderr).toContain('--link pair: a pipeline.yaml describes one proxy before one application')
    expect(exitCode).toBe(2)
  })
})
