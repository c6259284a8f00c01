import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseClaims } from '../../src/analysis/claims/claims.js'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { PROFILES, parseExperiment } from '../../src/request/experiment.js'
import { createFakePlan } from '../fakes/fake-plan.js'

const dataPlanes = Object.values(await loadPlanes())

const text = `name: cap
question: what?
axes:
  plane: [none, pipy]
  link: [ratings]
  cpuLimitCores: [1]
`

describe('parseExperiment', () => {
  it('fills in what a file leaves out', () => {
    expect(parseExperiment(text, 'cap.yaml')).toMatchObject({
      load: { kind: null, ratePer: 'link' },
      search: null,
      trafficPolicy: 'listed',
      profiles: {},
    })
  })

  it('names the line of a value that is wrong', () => {
    expect(() => parseExperiment(text.replace('[1]', '[0]'), 'a.yaml')).toThrow('a.yaml:6: axes.cpuLimitCores.0')
  })

  it('names the line of a text that is no YAML', () => {
    expect(() => parseExperiment('name: [a\nb: c\n', 'a.yaml')).toThrow(/^a\.yaml:\d: /)
  })

  it('says what is missing', () => {
    expect(() =>
      parseExperiment('name: a\naxes: { plane: [none], link: [a], cpuLimitCores: [1] }\n', 'a.yaml'),
    ).toThrow('question')
  })

  it('fills in what is looked for, and what is shown', () => {
    expect(parseExperiment(`${text}search: { kind: memory-floor }\n`, 'a.yaml').search).toEqual({
      ...{ kind: 'memory-floor', p99Ms: null },
    })
    expect(parseExperiment(text, 'a.yaml')).toMatchObject({
      shows: { quantities: ['throughput', 'cpuPerRequest', 'rss'], across: null, contrasts: [], hasCpuLine: false },
      ...{ mostOfCapacity: null, keepsServices: false, claims: [], targets: ['local', 'kubernetes'], relaxes: [] },
    })
  })

  /** What is wrong, the text, its line, the path, and the nearest name. @type {[string, string, number, string, string][]} */
  const TYPOS = [
    ['the experiment', `${text}trafficPolice: open\n`, 7, 'trafficPolice', 'trafficPolicy'],
    ['an axis', text.replace('cpuLimitCores:', 'worker: [1]\n  cpuLimitCores:'), 6, 'axes.worker', 'workers'],
    ['an axis that must be', text.replace('cpuLimitCores', 'cpuLimitCore'), 6, 'axes.cpuLimitCore', 'cpuLimitCores'],
    ['a profile', `${text}profiles:\n  quick:\n    round: 3\n`, 9, 'profiles.quick.round', 'rounds'],
    [
      'an axis of a profile',
      `${text}profiles:\n  quick:\n    axes:\n      protocoll: [http/2]\n`,
      10,
      'profiles.quick.axes.protocoll',
      'protocol',
    ],
    ['a name of the load', `${text}load:\n  ratePr: link\n`, 8, 'load.ratePr', 'ratePer'],
    ['what is shown', `${text}shows: { acros: users }\n`, 7, 'shows.acros', 'across'],
    ['a gate that is set aside', `${text}relaxes:\n  - { gate: drops, wy: because }\n`, 8, 'relaxes.0.wy', 'why'],
  ]
  it.each(TYPOS)('names file, line and the nearest name for a typo in %s', (_, wrong, line, at, nearest) => {
    const name = at.split('.').at(-1)
    expect(() => parseExperiment(wrong, 'a.yaml')).toThrow(
      `a.yaml:${line}: ${at}: unknown name "${name}"; did you mean "${nearest}"?`,
    )
  })

  it('refuses claims that are no name of a file in their folder', () => {
    expect(() => parseExperiment(`${text}claims: [../../x]\n`, 'a.yaml')).toThrow(
      'a.yaml:7: claims.0: is the name of a file in bench/claims, without .yaml',
    )
    expect(parseExperiment(`${text}claims: [cap]\n`, 'a.yaml').claims).toEqual(['cap'])
  })

  const withAxis = (/** @type {string} */ line) => text.replace('  cpuLimitCores', `  ${line}\n  cpuLimitCores`)
  it.each([
    [
      'tls',
      withAxis('tls: [ecdsa-p256, rsa]'),
      'a.yaml:6: axes.tls.1: unknown value "rsa" (one of: plaintext, ecdsa-p256, rsa-2048',
    ],
    [
      'protocol',
      withAxis('protocol: [http2]'),
      'a.yaml:6: axes.protocol.0: unknown value "http2"; did you mean "http/2"? (one of: http/1.1, http/2',
    ],
    [
      'connections',
      withAxis('connections: [keep]'),
      'a.yaml:6: axes.connections.0: unknown value "keep"; did you mean "kept"? (one of: kept, new',
    ],
    ['services', withAxis('services: [0]'), 'a.yaml:6: axes.services.0'],
    ['services, empty', withAxis('services: []'), 'a.yaml:6: axes.services'],
    [
      'a profile',
      `${text}profiles:\n  quick:\n    axes: { tls: [rsa] }\n`,
      'a.yaml:9: profiles.quick.axes.tls.0: unknown value "rsa" (one of: plaintext',
    ],
    [
      'a quantity',
      `${text}shows:\n  quantities: [p99, cpuPerRequst]\n`,
      'a.yaml:8: shows.quantities.1: unknown value "cpuPerRequst"; did you mean "cpuPerRequest"? (one of: cpuPerRequest, servicesCpuPerRequest, throughput',
    ],
    [
      'a contrast',
      `${text}shows:\n  contrasts: [tsl]\n`,
      'a.yaml:8: shows.contrasts.0: unknown value "tsl"; did you mean "tls"? (one of: link, services',
    ],
    [
      'the axis across',
      `${text}shows:\n  across: user\n`,
      'a.yaml:8: shows.across: unknown value "user"; did you mean "users"? (one of: link, services',
    ],
    [
      'a gate',
      `${text}relaxes:\n  - { gate: drop, why: because }\n`,
      'a.yaml:8: relaxes.0.gate: unknown value "drop"; did you mean "drops"? (one of: answers, errors',
    ],
    [
      'a target',
      `${text}targets: [lokal]\n`,
      'a.yaml:7: targets.0: unknown value "lokal"; did you mean "local"? (one of: local, kubernetes',
    ],
  ])('names file, line and the nearest of the valid values for one that is none: %s', (_, wrong, message) => {
    expect(() => parseExperiment(wrong, 'a.yaml')).toThrow(message)
  })

  it.each([
    ['an unknown kind', 'search: { kind: kne, p99Ms: 50 }', 'a.yaml:7: search'],
    ['no first rate', 'search: { kind: knee, p99Ms: 50 }', 'a.yaml:7: search.startPerSecond'],
    ['no limit', 'search: { kind: knee, p99Ms: 0, startPerSecond: 1 }', 'a.yaml:7: search.p99Ms'],
    ['a name too many', 'search: { kind: memory-floor, p99: 1 }', 'a.yaml:7: search.p99'],
  ])('refuses a search with %s', (_, search, message) => {
    expect(() => parseExperiment(`${text}${search}\n`, 'a.yaml')).toThrow(message)
  })
})

describe('the experiments of the kit', () => {
  const read = (/** @type {string} */ file) => readFileSync(file, 'utf8')
  const namesIn = (/** @type {string} */ folder) => readdirSync(folder).map(file => file.replace(/\.yaml$/, ''))
  const names = namesIn('bench/experiments')
  // Of another kind, that measures nothing.
  const experiments = names.filter(name => name !== 'balance').map(name => ({ name, ...parseFile(name) }))
  /** @param {string} name */
  function parseFile(name) {
    const file = `bench/experiments/${name}.yaml`
    return { experiment: parseExperiment(read(file), file) }
  }
  /** The experiments that each file of claims is tested by. @type {Map<string, (string | null)[]>} */
  const testedBy = new Map(
    namesIn('bench/claims').map(name => {
      const { claims } = parseClaims(read(`bench/claims/${name}.yaml`), name, { experiments: names })
      return [name, [...new Set(claims.map(c => c.experiment))]]
    }),
  )

  it.each(experiments)('are called as their files are: $name', ({ name, experiment }) => {
    expect(experiment.name).toBe(name)
  })

  it.each(experiments)('run on links that there are: $name', ({ experiment }) => {
    const links = [experiment.axes, ...Object.values(experiment.profiles).map(p => p?.axes)].flatMap(a => a?.link ?? [])
    for (const link of links) expect([link, existsSync(`bench/topologies/${link}.yaml`)]).toEqual([link, true])
  })

  it.each(experiments)('run planes that there are: $name', ({ experiment }) => {
    const planes = [experiment.axes, ...Object.values(experiment.profiles).map(p => p?.axes)].flatMap(
      a => a?.plane ?? [],
    )
    const known = dataPlanes.flatMap(p => [p.name, ...p.profiles.slice(1).map(profile => `${p.name}:${profile}`)])
    for (const plane of planes) expect(known).toContain(plane)
  })

  it.each(experiments)('name just the claims that name them: $name', ({ name, experiment }) => {
    const files = [...testedBy].filter(([, by]) => by.includes(name)).map(([file]) => file)
    expect(experiment.claims.toSorted()).toEqual(files.toSorted())
  })

  it.each(experiments)('show and contrast only what they vary, in some profile: $name', ({ experiment }) => {
    const { axes, shows } = experiment
    const isVaried = (/** @type {import('../../src/model/types.ts').AxisName} */ axis) => (axes[axis]?.length ?? 0) > 1
    for (const axis of [...shows.contrasts, ...(shows.across ? [shows.across] : [])]) {
      expect([axis, isVaried(axis)]).toEqual([axis, true])
    }
  })

  /** @type {import('../../src/model/types.ts').Entrance} */
  const entrance = { modes: ['strict'], hasCertificate: false }
  const cases = experiments.flatMap(({ name, experiment }) =>
    Object.keys(PROFILES).flatMap(profile => [1, 2, 16].map(cpus => ({ name, experiment, profile, cpus }))),
  )
  it.each(cases)('can be planned: $name, $profile, on $cpus CPUs', ({ experiment, profile, cpus }) => {
    const plan = createFakePlan(experiment, {
      cpus,
      overrides: { profile },
      findUnsupported: ({ plane, conditions }) => {
        const dataPlane = dataPlanes.find(p => p.name === plane)
        const reason = dataPlane?.findUnsupported({ conditions, entrance, version: '1.5.18', cpus }) ?? null
        return reason === null ? null : { reason, isRefused: true }
      },
    })
    const ids = plan.arms.map(a => a.id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(plan.arms.every(a => a.cpuLimitCores === null || Math.ceil(a.cpuLimitCores) <= cpus)).toBe(true)
    const planned = plan.arms.reduce((sum, arm) => sum + (arm.rounds ?? plan.rounds), 0)
    const { length } = plan.trials
    // Where groups are too large for one deployment, each part has the arms that the others are held against.
    if (plan.parts.some(({ kind }) => kind === 'cost')) expect(length).toBeGreaterThanOrEqual(planned)
    else expect(length).toBe(experiment.search ? 0 : planned)
    expect(plan.calibrations.length > 0).toBe(experiment.mostOfCapacity !== null)
  })
})
