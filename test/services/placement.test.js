import { describe, expect, it } from 'vitest'
import { createPlacementRule, placeRoles } from '../../src/services/placement.js'
import { createArm } from '../fakes/fake-records.js'

const cores = (/** @type {number} */ n) => Array.from({ length: n }, (_, i) => [i])

describe('placeRoles', () => {
  it('gives sidecars what their caps can use, and the rest to generator and applications, disjoint', () => {
    expect(placeRoles({ cores: cores(8), sidecarCpus: 2, applications: 2 })).toEqual({
      ...{ sidecar: [0, 1], application: [2, 3], generator: [4, 5, 6, 7] },
    })
    expect(placeRoles({ cores: cores(4), sidecarCpus: 2, applications: 2 })).toEqual({
      ...{ sidecar: [0, 1], application: [2], generator: [3] },
    })
  })

  it('gives the applications what sidecars leave if the load comes from elsewhere', () => {
    const elsewhere = { applications: 2, isLoadElsewhere: true }
    expect(placeRoles({ ...elsewhere, cores: cores(4), sidecarCpus: 2 })).toEqual({
      ...{ sidecar: [0, 1], application: [2, 3], generator: [] },
    })
    expect(placeRoles({ ...elsewhere, cores: cores(2), sidecarCpus: 1 })).toEqual({
      ...{ sidecar: [0], application: [1], generator: [] },
    })
    expect(placeRoles({ ...elsewhere, cores: cores(2), sidecarCpus: 2 })).toBeNull()
  })

  it('gives none where there are too few', () => {
    expect(placeRoles({ cores: cores(2), sidecarCpus: 1, applications: 2 })).toBeNull()
    expect(placeRoles({ cores: [], sidecarCpus: 1, applications: 2 })).toBeNull()
  })

  it('keeps the threads of a physical core together', () => {
    const smt = [
      [0, 4],
      [1, 5],
      [2, 6],
      [3, 7],
    ]
    expect(placeRoles({ cores: smt, sidecarCpus: 2, applications: 2 })?.sidecar).toEqual([0, 4])
  })
})

describe('createPlacing', () => {
  const services = ['gateway', 'ratings'].map(name => ({ name, application: /** @type {const} */ ('echo'), calls: [] }))
  const topologies = { link: /** @type {any} */ ({ services }) }

  it('places arms without sidecars as those of the largest cap', () => {
    const arms = [createArm({ plane: 'none', cpuLimitCores: null }), createArm({ plane: 'pipy', cpuLimitCores: 1 })]
    const [none, pipy] = arms.map(createPlacementRule({ arms, topologies, cores: cores(8) }))
    expect(none).toEqual(pipy)
    expect(pipy?.sidecar).toEqual([0, 1])
  })

  it('places nothing if sidecars are not capped', () => {
    const arms = [createArm({ plane: 'pipy', cpuLimitCores: null })]
    expect(createPlacementRule({ arms, topologies, cores: cores(8) })(arms[0])).toBeNull()
  })

  it('pins no interleaved arm, unless the generator is asked to be apart', () => {
    const interleaved = { kind: /** @type {const} */ ('interleaved'), isInterleaved: /** @type {const} */ (true) }
    const [free, apart] = [{}, { placement: /** @type {const} */ ('apart') }].map(fields =>
      createArm({ plane: 'pipy', cpuLimitCores: 1, load: { ...interleaved, ...fields } }),
    )
    const placementsOf = (/** @type {number} */ cpus) =>
      [free, apart].map(createPlacementRule({ arms: [free, apart], topologies, cores: cores(cpus) }))
    expect(placementsOf(8)).toEqual([
      null,
      { sidecar: [0, 1, 2, 3], application: [0, 1, 2, 3], generator: [4, 5, 6, 7] },
    ])
    expect(placementsOf(1)).toEqual([null, null])
  })

  it('places an arm that is not in the plan by its own cap', () => {
    const arms = [createArm({ plane: 'pipy', cpuLimitCores: 1 })]
    const tried = { ...createArm({ plane: 'pipy', cpuLimitCores: 2 }), id: 'link-pipy@2' }
    const placement = createPlacementRule({ arms, topologies, cores: cores(8) })(tried)
    expect(placement).toEqual({ sidecar: [0, 1, 2, 3], application: [4, 5], generator: [6, 7] })
  })
})
