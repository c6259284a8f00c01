import { describe, expect, it } from 'vitest'
import { listComparisonWarnings, listIncomparableReasons, renderScriptChanges } from '../../src/analysis/match-runs.js'
import { METHOD_VERSION } from '../../src/model/versions.js'
import { createManifest as createFakeManifest } from '../fakes/fake-manifest.js'
import { createArm, createRecord } from '../fakes/fake-records.js'

/** @import { Arm } from '../../src/model/types.ts' */

const TOOLS = {
  pipy: { name: 'pipy', path: '/pipy', version: '1.5.18', sha256: 'a'.repeat(64), source: '' },
  k6: { name: 'k6', path: '/k6', version: '1.1.0', sha256: 'b'.repeat(64), source: '' },
}

const pipy = (/** @type {Parameters<typeof createArm>[0]} */ fields = {}) => createArm({ plane: 'pipy', ...fields })
const variant = (/** @type {string} */ name, folder = '/x') => pipy({ id: name, variant: `${folder}/${name}` })

const createManifest = (/** @type {Parameters<typeof createFakeManifest>[0]} */ { settings, ...fields } = {}) =>
  createFakeManifest({
    tools: TOOLS,
    machine: { bootId: 'boot-1', kernel: 'Linux 6.1', cpus: 2 },
    settings: { trafficPolicy: 'open', ...settings },
    ...fields,
  })

/** The scripts of the fake run, those of a role edited. @param {string} role */
function scriptsWith(role, sha256 = 'f'.repeat(64)) {
  return createManifest().scripts.map(s => (s.role === role ? { ...s, sha256 } : s))
}

describe('renderScriptChanges', () => {
  const renderScripts = (/** @type {Arm} */ old, /** @type {Arm} */ next, /** @type {any[]} */ ...scripts) =>
    renderScriptChanges({
      old: createManifest({ scripts: scripts[0] }),
      next: createManifest({ scripts: scripts[1] }),
      matches: [{ old, next }],
    })
  const of = (/** @type {Arm} */ { plane, variant }, /** @type {string} */ digit) => [
    { role: 'sidecar', plane, variant, sha256: digit.repeat(64) },
  ]

  it('says that a variant of one path was edited in between', () => {
    const arm = variant('a')
    expect(renderScripts(arm, arm, of(arm, '4'), of(arm, '5'))).toEqual([
      'scripts of pipy=a: sha256 444444444444 in old, sha256 555555555555 in new',
    ])
    expect(renderScripts(arm, arm, of(arm, '4'), of(arm, '4'))).toEqual([])
  })

  it('says that two variants are the same scripts', () => {
    const [a, b] = [variant('a'), variant('b')]
    expect(renderScripts(a, b, of(a, '4'), of(b, '4'))).toEqual([
      'scripts of pipy=a and pipy=b: the same in both, sha256 444444444444',
    ])
  })
})

describe('findIncomparable', () => {
  it.each([
    [`method version: ${METHOD_VERSION} in old, 0 in new`, { methodVersion: 0 }],
    [
      'scripts of the load: sha256 111111111111 in old, sha256 ffffffffffff in new',
      { scripts: scriptsWith('generator') },
    ],
    [
      'scripts of the applications: sha256 222222222222 in old, sha256 ffffffffffff in new',
      { scripts: scriptsWith('application') },
    ],
    ['load generator: k6 in old, wrk in new', { tools: { wrk: TOOLS.k6 } }],
    ['traffic policy: open in old, listed in new', { settings: { trafficPolicy: 'listed' } }],
    ['applications: pipy in old, node in new', { settings: { app: 'node' } }],
    ['profile: standard in old, smoke in new: smoke is comparable with nothing', { settings: { profile: 'smoke' } }],
    [
      'search: none in old, knee in new: a search has no rounds to compare',
      { search: { kind: 'knee', precision: 0.1, p99Ms: 20, startPerSecond: 1 } },
    ],
  ])('finds %s', (words, changes) => {
    const next = createManifest(/** @type {any} */ (changes))
    expect(listIncomparableReasons({ old: createManifest(), next })).toEqual([words])
  })

  it('finds two smoke runs', () => {
    const smoke = createManifest({ settings: { profile: 'smoke' } })
    expect(listIncomparableReasons({ old: smoke, next: smoke })).toEqual([
      'profile: smoke in old, smoke in new: smoke is comparable with nothing',
    ])
  })

  it('treats quick as standard: the windows of their arms distinguish them', () => {
    const quick = createManifest({ settings: { profile: 'quick' } })
    expect(listIncomparableReasons({ old: createManifest(), next: quick })).toEqual([])
  })
})

describe('listComparisonWarnings', () => {
  const records = [createRecord()]
  const warningsOf = (/** @type {Parameters<typeof createManifest>[0]} */ changes) =>
    listComparisonWarnings({
      old: { manifest: createManifest(), records },
      next: { manifest: createManifest(changes), records },
    })

  it.each([
    [
      [
        'CPUs: 2 in old, 4 in new',
        'boot id: boot-1 in old, boot-2 in new',
        'kernel: Linux 6.1 in old, Linux 6.2 in new',
      ],
      { machine: { bootId: 'boot-2', kernel: 'Linux 6.2', cpus: 4 } },
    ],
    [['kernel: Linux 6.1 in old, unknown in new'], { machine: { bootId: 'boot-1', cpus: 2 } }],
    [['target: local in old, kubernetes in new'], { target: 'kubernetes' }],
    [['kit: 0.1.0 abc cccccccccccc in old, 0.1.0 def in new'], { kit: { version: '0.1.0', git: 'def', sha256: '' } }],
    [
      ['pipy: 1.5.18 in old, 2.0.0 in new'],
      { tools: { ...TOOLS, pipy: { ...TOOLS.pipy, version: '2.0.0', sha256: 'c'.repeat(64) } } },
    ],
    [
      ['pipy: 1.5.18 (sha256 aaaaaaaaaaaa) in old, 1.5.18 (sha256 cccccccccccc) in new'],
      { tools: { ...TOOLS, pipy: { ...TOOLS.pipy, sha256: 'c'.repeat(64) } } },
    ],
    [['experiment: cap in old, payload in new'], { run: { ...createManifest().run, experiment: 'payload' } }],
  ])('warns of %j', (words, changes) => {
    expect(warningsOf(/** @type {any} */ (changes))).toEqual(words)
  })

  it('warns of what only one sets aside, or lets share CPUs', () => {
    expect(warningsOf({ settings: { relaxes: [{ gate: 'parity-tls', why: '' }], isPinned: false } })).toEqual([
      'set aside: nothing in old, parity-tls in new',
      'CPUs of their own: wanted in old, not wanted in new',
    ])
  })

  it('says nothing of another seed, of another commit around the same kit, or of a tool that only one has', () => {
    expect(warningsOf({ kit: { ...createManifest().kit, git: 'def' } })).toEqual([])
    expect(warningsOf({ run: { ...createManifest().run, seed: 7 } })).toEqual([])
    expect(warningsOf({ tools: { pipy: TOOLS.pipy } })).toEqual([])
  })

  it('says how many rounds are compared, by those that are recorded', () => {
    const run = (/** @type {number} */ rounds) => ({
      manifest: createManifest({ rounds: 10 }),
      records: Array.from({ length: rounds }, (_, i) => createRecord({ round: i + 1 })),
    })
    expect(listComparisonWarnings({ old: run(6), next: run(8) })).toEqual([
      'rounds: 6 in old, 8 in new: the first 6 are compared',
    ])
  })
})

describe('transparent huge pages', () => {
  it('are named if they differ', () => {
    const of = (/** @type {string} */ transparentHugePages) => ({
      manifest: createManifest({ machine: { bootId: 'boot-1', kernel: 'Linux 6.1', cpus: 2, transparentHugePages } }),
      records: [createRecord()],
    })
    const words = 'transparent huge pages: always in old, madvise in new'
    expect(listComparisonWarnings({ old: of('always'), next: of('madvise') })).toContain(words)
    expect(listComparisonWarnings({ old: of('always'), next: of('always') }).join()).not.toContain('huge pages')
  })
})
