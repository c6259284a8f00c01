import { METHOD_VERSION, SCHEMA_VERSION } from '../../src/model/versions.js'
import { createArm, withKinds } from './fake-records.js'

/** @import { Manifest, RunSettings } from '../../src/model/types.ts' */

/**
 * The manifest of a run without searches, and what the test changes.
 * @param {Partial<Omit<Manifest, 'settings'>> & { settings?: Partial<RunSettings> }} [fields] @returns {Manifest}
 */
export function createManifest({ settings, ...fields } = {}) {
  return {
    schemaVersion: SCHEMA_VERSION,
    methodVersion: METHOD_VERSION,
    run: { id: 'run-1', startedAt: '2026-01-02T03:04:05.000Z', experiment: 'cap', seed: 1 },
    question: 'What does it cost?',
    claims: [],
    command: ['bench'],
    kit: { version: '0.1.0', git: 'abc', sha256: 'c'.repeat(64) },
    target: 'local',
    machine: { kernel: 'Linux 6', cpuModel: 'A CPU', cpus: 2 },
    tools: { pipy: { name: 'pipy', version: '1.5.18', path: '/bin/pipy', sha256: 'f'.repeat(64), source: 'PATH' } },
    scripts: [
      { role: 'generator', plane: null, variant: null, sha256: '1'.repeat(64) },
      { role: 'application', plane: null, variant: null, sha256: '2'.repeat(64) },
      { role: 'sidecar', plane: 'pipy', variant: null, sha256: '3'.repeat(64) },
    ],
    settings: {
      profile: 'standard',
      trafficPolicy: 'listed',
      app: 'pipy',
      isPinned: true,
      relaxes: [],
      keepsServices: false,
      shows: { quantities: [], across: null, contrasts: [], hasCpuLine: false, hasSlopes: false },
      ...settings,
    },
    thresholds: [],
    rounds: 6,
    search: null,
    calibrations: [],
    placements: {},
    notMeasured: [],
    topologies: {},
    parity: [],
    ...fields,
    arms: withKinds(fields.arms ?? [createArm({})], {
      isSearch: Boolean(fields.search),
      grows: settings?.grows !== undefined,
    }),
  }
}
