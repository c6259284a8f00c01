import { describe, expect, it } from 'vitest'
import { PROFILES } from '../../src/plan/experiment.js'
import { readAsked } from '../../src/verbs/preparation.js'
import { planRun } from '../../src/verbs/prepare.js'
import { listExperiments, readExperiment } from '../../src/verbs/read-experiment.js'

/** @param {string} name @param {Record<string, unknown>} [options] */
const ask = (name, options) => readAsked(readExperiment(name), { profile: 'standard', pin: true, seed: 1, ...options })
/** @param {number} count */
const coresOf = count => Array.from({ length: count }, (_, cpu) => [cpu])

describe('planRun', () => {
  const cases = listExperiments().flatMap(name => Object.keys(PROFILES).map(profile => ({ name, profile })))
  it.each(cases)('plans $name with profile $profile, whatever links the profile has', ({ name, profile }) => {
    const { plan, layout } = planRun({ ...ask(name, { profile }), site: { cpus: 16, cores: coresOf(16) } })
    const links = new Set(plan.arms.map(arm => arm.link))
    expect(new Set(Object.keys(layout.topologies))).toEqual(links)
    for (const arm of [...plan.arms, ...plan.calibrations]) layout.placementOf(arm)
  })

  it('says of CPUs what is so: enough, too few, or none that can be given out', () => {
    const notesOn = (/** @type {number} */ cpus, cores = coresOf(cpus)) =>
      planRun({ ...ask('cap', { cpu: [0.25] }), site: { cpus, cores } }).plan.notes.join()
    expect(notesOn(16)).toBe('')
    expect(notesOn(2)).toContain('2 CPUs are too few to give each its own')
    expect(notesOn(16, [])).toContain('they cannot be given out here')
  })
})
