import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createGrowth, listGrowthNames } from '../../../src/kinds/growth/services.js'
import { createPlace } from '../../../src/model/sidecar-contract.js'
import { CONTROL } from '../../../src/services/control.js'
import { fakeTool } from '../../fakes/fake-bench.js'
import { createControlledPlane } from '../../fakes/fake-control.js'
import { createServices } from '../../fakes/fake-services.js'

/** @import { SidecarModel } from '../../../src/model/types.ts' */

const names = listGrowthNames(40)
const listed = [...names.applications, CONTROL, ...names.sidecars]
const addressOf = (/** @type {string} */ name) => `127.9.0.${listed.indexOf(name) + 1}`
/** @type {Record<string, SidecarModel>} */
const models = {}
const plane = createControlledPlane({
  enrol({ model }) {
    models[model.service] = model
    return [{ kind: 'move', file: model.service, content: '' }]
  },
})
const { topology: link, ...services } = createServices({
  plane,
  places: Object.fromEntries(listed.map(name => [name, createPlace(addressOf(name))])),
  conditions: { tls: 'plaintext', workers: 1, controlCpuLimitCores: 1.5 },
})
const growth = createGrowth({
  ...services,
  control: /** @type {NonNullable<typeof plane.controls>} */ (plane.controls)[0],
  controlTool: fakeTool,
  link,
  sidecars: 40,
})

describe('a growth', () => {
  it('has steps of 2 clients × 5 and 5 servers × 2, each a batch', () => {
    expect(growth.steps.map(({ sidecars, spec }) => [sidecars, spec.service, spec.batchOf])).toEqual([
      [20, 'step-1', 20],
      [40, 'step-2', 20],
    ])
    const [{ members }] = growth.steps
    expect(members.filter(({ backends }) => backends === 5).map(({ name }) => name)).toEqual(
      [1, 2].flatMap(i => [`client-1-${i}`, ...[2, 3, 4, 5].map(copy => `client-1-${i}-${copy}`)]),
    )
    expect(members.filter(({ backends }) => backends === 1)).toHaveLength(10)
    expect(members.map(({ enrolment }) => enrolment)).toContainEqual([
      { kind: 'move', file: 'server-1-5-2', content: '' },
    ])
  })

  it('splits the requests of each client over its five servers, both copies of each', () => {
    const { outbound, clusters } = models['client-2-1-4']
    expect(outbound?.routes.at(-1)).toMatchObject({
      host: 'split.test',
      split: [1, 2, 3, 4, 5].map(i => ({ cluster: `server-2-${i}`, weight: 1 })),
    })
    expect(clusters.find(({ name }) => name === 'server-2-3')?.endpoints).toEqual([
      { address: addressOf('server-2-3'), port: 15003 },
      { address: addressOf('server-2-3-2'), port: 15003 },
    ])
  })

  it('leads the servers of all steps to five applications, which say their names', () => {
    expect(growth.applications.map(({ service, argv }) => [service, argv.at(-1)])).toEqual(
      [1, 2, 3, 4, 5].map(i => [`backend-${i}`, `backend-${i}`]),
    )
    for (const name of ['server-1-3', 'server-2-3-2'])
      expect(models[name].clusters).toEqual([
        expect.objectContaining({ name: 'application', endpoints: [{ address: addressOf('backend-3'), port: 8080 }] }),
      ])
    // One that every scripted application has.
    for (const { argv } of growth.applications)
      expect(readFileSync(argv[0].replace('/e/', 'echo/'), 'utf8')).toMatch('x-served-by')
  })

  it('limits the control plane alone', () => {
    expect(growth.control).toMatchObject({ service: CONTROL, cpuLimitCores: 1.5, memoryLimitBytes: null })
    expect(growth.steps[0].spec.cpuLimitCores).not.toBe(1.5)
  })
})
