import { expect, it } from 'vitest'
import { listRunFacts, tabulateProvenance } from '../../src/report/provenance.js'
import { createManifest } from '../fakes/fake-manifest.js'

const base = {
  ...{ schemaVersion: 4, command: ['node', 'src/cli.js', 'bench'], kit: { version: '1.0.0', git: 'abc', sha256: '' } },
  run: { id: 'one', startedAt: '2026-01-01T00:00:00Z', experiment: 'e', seed: 7 },
}

it('every run says its seed, its command, the kit, and the version of its records', () => {
  expect(tabulateProvenance(/** @type {any} */ (base)).rows).toEqual([
    ['run', 'one, started 2026-01-01T00:00:00Z, seed 7'],
    ['command', 'node src/cli.js bench'],
    ['kit', '1.0.0, git abc'],
    ['records', 'schema version 4'],
  ])
})

it('a run of trials says besides how it was measured, when it went on, and what it ran on and with', () => {
  const manifest = /** @type {any} */ ({
    ...{ ...createManifest({ target: 'fake' }), ...base, methodVersion: 9 },
    run: { ...base.run, resumed: [{ at: '2026-01-02', id: 'two', trials: 5 }] },
    machine: { cpuModel: 'a CPU', governor: null, before: { idleFraction: 0.9, stealFraction: 0.01 } },
    tools: { pipy: { name: 'pipy', version: '1.5.18', path: '/usr/bin/pipy', sha256: '', source: 'PATH' } },
    settings: { profile: 'quick', trafficPolicy: 'open', app: 'pipy', isPinned: false, keepsServices: false },
  })
  const records = /** @type {any[]} */ ([
    { orchestratorPeakBytes: 50 * 2 ** 20 },
    { orchestratorPeakBytes: 60 * 2 ** 20 },
  ])
  const { rows } = tabulateProvenance(manifest, listRunFacts(manifest, records))
  const said = Object.fromEntries(/** @type {string[][]} */ (rows))
  expect(said).toMatchObject({
    'went on': '2026-01-02, after 5 trials',
    records: 'schema version 4, method version 9',
    'memory of the kit': 'at most 60.0 MiB resident in the windows',
    ...{ target: 'fake', cpuModel: 'a CPU', governor: 'not known' },
    'before the run': '90 % idle, 1 % stolen by its host',
    pipy: '1.5.18, /usr/bin/pipy, SHA-256 not known',
    ...{ profile: 'quick', isPinned: 'false' },
  })
  expect(listRunFacts(manifest, [])[0]).toEqual(['memory of the kit', 'not known'])
})
