import { describe, expect, it } from 'vitest'
import { AXES, AXIS_NAMES } from '../../src/model/arms.js'
import { readExperiment } from '../../src/prepare/read-experiment.js'
import { findConflict } from '../../src/request/constraint.js'
import { LAB_OPTIONS } from '../../src/request/constraints/lab.js'
import { REPORT_OPTIONS } from '../../src/request/constraints/report.js'
import { SITE_OPTIONS } from '../../src/request/constraints/site.js'
import { assertCombination, assertRequest, isOptionAllowed } from '../../src/request/constraints.js'
import { parseExperiment } from '../../src/request/experiment.js'

/** @import { AxisName, TrialKind } from '../../src/model/types.ts' */
/** @import { PartRequest } from '../../src/request/part-request.js' */

/** @param {string} name @param {TrialKind} kind @param {object} overrides @returns {PartRequest} */
function requestOf(name, kind, overrides) {
  const experiment = readExperiment(name)
  return {
    experiment,
    overrides: /** @type {any} */ ({ planes: null, cpuLimits: null, rounds: null, axes: {}, ...overrides }),
    axes: experiment.axes,
    kind,
    kinds: [kind],
    planes: [],
    hasSidecars: () => true,
    cpus: 2,
  }
}

describe('a constraint', () => {
  const rows = [
    {
      on: 'b',
      conflict: (/** @type {any} */ { a }) => a,
      message: (/** @type {any} */ _, /** @type {any} */ a) => `no b with ${a}`,
    },
    { on: 'always', conflict: (/** @type {any} */ { c }) => c > 1, message: () => 'one c' },
  ]

  it('is broken by what is asked together, and says with what', () => {
    expect(findConflict(rows, { a: 7, c: 0 }, name => name === 'b')?.message).toBe('no b with 7')
    expect(findConflict(rows, { a: 7, c: 0 }, () => false)).toBeNull()
    expect(findConflict(rows, { a: null, c: 2 }, () => false)?.message).toBe('one c')
  })
})

describe('an axis', () => {
  const foreign = (/** @type {TrialKind} */ kind) =>
    AXIS_NAMES.filter(name => name !== 'cpuLimitCores' && !AXES[name].kinds.includes(kind))

  it.each(
    /** @type {[string, TrialKind][]} */ ([
      ['cap', 'cost'],
      ['cap', 'capacity'],
      ['rollout', 'rollout'],
      ['grow', 'growth'],
    ]),
  )('of other kinds is refused by %s as %s, and each of its own is not refused as foreign', (experiment, kind) => {
    expect(foreign(kind).length).toBeGreaterThan(3)
    for (const name of AXIS_NAMES.filter(axis => axis !== 'cpuLimitCores')) {
      const ask = () => assertRequest(requestOf(experiment, kind, { axes: { [name]: AXES[name].values } }))
      const refusal = /applies only to|cannot vary|needs an experiment|no axis sidecars|has no load/
      if (foreign(kind).includes(name)) expect(ask, name).toThrow(refusal)
      else expect(ask, name).not.toThrow(refusal)
    }
  })
})

describe('the CPU limit of a request', () => {
  it('is at most the CPUs of the machine, but for interleaved arms, which have none', () => {
    const ask = (/** @type {TrialKind} */ kind) => () => assertRequest(requestOf('cap', kind, { cpuLimits: [4] }))
    expect(ask('capacity')).toThrow('--cpu 4: this machine has 2 CPUs; give at most 2, or --cpu none')
    expect(ask('cost')).not.toThrow()
  })
})

describe('isOptionAllowed', () => {
  it('is false for what the experiment alone rules out', () => {
    expect(isOptionAllowed('users', readExperiment('idle'))).toBe(false)
    expect(isOptionAllowed('users', readExperiment('cap'))).toBe(true)
    expect(isOptionAllowed('assignment', readExperiment('rollout'))).toBe(true)
    expect(isOptionAllowed('precision', readExperiment('soak'))).toBe(false)
  })
})

describe('an experiment file', () => {
  it('cannot give the load of an idle link', () => {
    const experiment = parseExperiment(
      JSON.stringify({
        ...{ name: 'x', question: 'q', load: { kind: 'idle' } },
        axes: { plane: ['pipy'], link: ['pair'], cpuLimitCores: 'none', users: [10] },
      }),
      'x.yaml',
    )
    const request = { ...requestOf('idle', 'capacity', {}), experiment, axes: experiment.axes }
    expect(() => assertRequest(request)).toThrow('--users: x has no load: leave it out')
  })
})

describe('options of a command', () => {
  it.each([
    [{ target: 'local', image: {}, samples: 'cgroup' }, null],
    [{ target: 'local', image: { pipy: 'x' } }, '--image is for a cluster'],
    [{ target: 'kubernetes', loadHost: 'x' }, '--load-node chooses'],
    [{ target: 'kubernetes', samples: 'kubelet', loadNode: 'b', node: 'a' }, 'it takes no --load-node'],
    [{ target: 'local', precision: 0.03, yes: true }, '--precision ends at --max-minutes'],
  ])('of a site %j: %s', (options, message) => {
    const ask = () => assertCombination(SITE_OPTIONS, options)
    if (message === null) expect(ask).not.toThrow()
    else expect(ask).toThrow(message)
  })

  it('of lab exclude each other', () => {
    const side = { label: 'mine', scripts: 'mine', profile: null, isKit: false }
    const lab = { flags: ['time', 'json'], time: true, pipy: [], side, isOnBothSides: false }
    expect(() => assertCombination(LAB_OPTIONS, lab)).toThrow('--time measures after a count: leave out --json')
    expect(() => assertCombination(LAB_OPTIONS, { ...lab, flags: ['time'], pipy: ['a'] })).toThrow('set PIPY=a')
    expect(() => assertCombination(LAB_OPTIONS, { ...lab, flags: ['time'], pipy: ['a', 'b'] })).toThrow(
      'leave out mine',
    )
    expect(() => assertCombination(LAB_OPTIONS, { ...lab, flags: ['time'] })).not.toThrow()
  })

  it('of report are of one run, or of a history', () => {
    const formats = { ofRun: ['text', 'html'], ofHistory: ['text', 'otava'], files: ['html', 'otava'] }
    expect(() => assertCombination(REPORT_OPTIONS, { format: 'otava', formats })).toThrow(
      '--format otava is of many runs',
    )
    expect(() => assertCombination(REPORT_OPTIONS, { format: 'html', history: true, formats })).toThrow('is of one run')
    expect(() => assertCombination(REPORT_OPTIONS, { format: 'text', out: 'x', formats })).toThrow(
      'is printed, and no file',
    )
    expect(() => assertCombination(REPORT_OPTIONS, { format: 'text', bundle: true, formats })).toThrow('needs a run')
    expect(() => assertCombination(REPORT_OPTIONS, { format: 'text', formats })).not.toThrow()
  })
})
