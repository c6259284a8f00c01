import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { listComparisons } from '../../../src/model/results.js'
import { createAnswer } from '../../../src/report/answer/answer.js'
import { createFakeTarget } from '../../fakes/fake-bench.js'
import { runFake } from '../../fakes/fake-run.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { ProcessSpec } from '../../../src/model/types.ts' */

describe('the answer of windows at several CPU limits', () => {
  let folder = ''
  beforeEach(() => {
    folder = path.join(makeFolder('capacity-answer-test'), 'run')
  })
  // Sidecars use a quarter of a core: only the smaller limit is reached.
  const cores = (/** @type {ProcessSpec} */ { role }) => (role === 'sidecar' ? 0.25 : 0.05)
  const axes = '{ plane: [none, cheap, dear], link: [gateway-ratings], cpuLimitCores: [1, 0.25], users: [10] }'

  it('names the limit at which both proxies were the bound', async () => {
    const { summary } = await runFake({ folder, target: await createFakeTarget({ cores }), axes })
    const compared = listComparisons(summary).filter(c => c.quantity === 'capacity' && c.ratio.median !== null)
    expect(new Set(compared.map(c => c.cpuLimitCores))).toEqual(new Set([0.25]))
    const { verdicts } = createAnswer(summary)
    expect(verdicts.filter(line => line.startsWith('At '))).toEqual([expect.stringMatching(/^At 0\.25 CPU each: /)])
  })

  it('draws the quantities that the experiment asks for beside the cost, and no rate of interleaved turns', async () => {
    const more = 'measure: [cost, capacity]\nshows: { quantities: [throughput, cpuOfCap] }\n'
    const { summary } = await runFake({ folder, target: await createFakeTarget({ cores }), more })
    const { pictures } = createAnswer(summary)
    const headings = pictures.flatMap(({ columns }) => columns.map(({ heading }) => heading))
    expect(headings).toContain('CPU of cap')
    expect(headings.filter(heading => heading === 'requests/s')).toHaveLength(1)
  })
})
