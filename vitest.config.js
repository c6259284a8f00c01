import { defineConfig } from 'vitest/config'
import { BaseSequencer } from 'vitest/node'

const REAL = 'test/integration'
const FUZZ = 'test/fuzz'
// Real services on loopback share the CPUs: one file at a time, a project after the other. A test that another process of the
// machine spoils is tried once more, and named in the last lines; a unit test is not.
const oneByOne = { fileParallelism: false, testTimeout: 60_000, hookTimeout: 60_000, retry: 1 }
// These files assert nothing about speed: several run at once. The emulated machine of cgroup-v2 is too slow for that.
const UNMEASURED = [
  ...['docs-commands', 'experiments', 'lab', 'watched', 'package', 'public-pipelines'],
  ...['mtls-negatives', 'keys', 'archives', 'access-log', 'production'],
]
// Its cases wait for timeouts three quarters of their time.
const WAITING = ['parity']
const BESIDE = { maxWorkers: 3, sequence: { groupOrder: 2 } }

// Files that run beside others begin with the longest, so that none is alone at the end.
const LONGEST = [
  ...[...WAITING, ...UNMEASURED].map(name => `${REAL}/${name}`),
  ...['run/run', 'records/full-disk', 'report/page', 'kinds/rollout/course', 'run/long-run', 'live/page', 'cli'],
  ...[
    'report/hostile-names',
    'records/bundle',
    'kinds/growth/course',
    'run/resume',
    'fuzz/files',
    'fuzz/runs',
    'records/hostile',
  ],
]

class LongestFirst extends BaseSequencer {
  /** @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    const rank = (/** @type {import('vitest/node').TestSpecification} */ { moduleId }) => {
      const index = LONGEST.findIndex(name => moduleId.endsWith(`/${name}.test.js`))
      return index < 0 ? LONGEST.length : index
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    // Node reads the modules itself, and nothing transforms them: they are plain JavaScript, and no test mocks a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    reporters: ['default', './test/last-lines-reporter.js'],
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        test: {
          name: 'unit',
          include: ['test/**/*.test.js'],
          exclude: [`${REAL}/**`, `${FUZZ}/**`, 'test/faults/**'],
          // They wait more than they compute. One process reads the modules once for all its files, so a file must put back
          // what it changes: half of the CPU time of a file was reading.
          isolate: false,
          unstubEnvs: true,
          maxWorkers: 6,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          sequence: { groupOrder: 0 },
        },
      },
      {
        test: {
          name: 'fuzz',
          include: [`${FUZZ}/*.test.js`],
          // With more inputs than a few it takes minutes of one CPU: then it runs beside what is unmeasured.
          ...(process.env.FUZZ_INPUTS ? BESIDE : { maxWorkers: 6, sequence: { groupOrder: 0 } }),
        },
      },
      {
        test: {
          ...oneByOne,
          name: 'smoke',
          include: [`${REAL}/smoke.test.js`],
          sequence: { groupOrder: 1 },
        },
      },
      {
        test: {
          ...oneByOne,
          name: 'unmeasured',
          include: UNMEASURED.map(name => `${REAL}/${name}.test.js`),
          ...BESIDE,
          fileParallelism: true,
          maxConcurrency: 3,
        },
      },
      {
        test: {
          ...oneByOne,
          name: 'waiting',
          include: WAITING.map(name => `${REAL}/${name}.test.js`),
          ...BESIDE,
          fileParallelism: true,
          maxConcurrency: 6,
        },
      },
      {
        test: {
          ...oneByOne,
          name: 'integration',
          include: [`${REAL}/!(smoke|kubernetes*|${[...WAITING, ...UNMEASURED].join('|')}).test.js`],
          // Of the tests that a file marks as concurrent.
          maxConcurrency: 3,
          sequence: { groupOrder: 3 },
        },
      },
      {
        test: {
          ...oneByOne,
          name: 'faults',
          include: ['test/faults/*.test.js'],
          maxConcurrency: 2,
          sequence: { groupOrder: 4 },
        },
      },
      // After everything that measures without a cluster: even an idle one takes CPU.
      {
        test: {
          ...oneByOne,
          name: 'cluster',
          include: [`${REAL}/kubernetes*.test.js`],
          maxConcurrency: 3,
          sequence: { groupOrder: 5 },
        },
      },
    ],
  },
})
