import { describe, expect, it } from 'vitest'
import { createTimeLeft, renderTimeLeftNote } from '../../../src/kinds/search/course.js'
import { createArm } from '../../fakes/fake-records.js'

const templates = ['pipy', 'envoy'].map(plane =>
  createArm({ plane, id: `link-${plane}`, load: { kind: 'open', ratePerSecond: 120, windowSeconds: 8 } }),
)
const [pipy, envoy] = templates
const start = () =>
  createTimeLeft({
    spec: { kind: 'size', p99Ms: 80, isExtrapolated: false, precision: 0.05, trialsToConfirm: 3 },
    templates,
    estimateSeconds: trials => trials.reduce((sum, { arm }) => sum + arm.load.windowSeconds, 0),
  })

describe('createTimeLeft', () => {
  it('is at first that of the usual trials of each arm', () => expect(start().estimate()).toBe(2 * 6 * 8))

  it('follows the pace of the trials so far', () => {
    const left = start()
    left.count({ template: pipy, isOver: false, seconds: 12 })
    left.count({ template: envoy, isOver: false, seconds: 12 })
    // Ten trials at one and a half times the planned time.
    expect(left.estimate()).toBe(10 * 12)
  })

  it('counts nothing for a search that ended early, and one trial for one that goes on beyond the usual', () => {
    const left = start()
    for (let nth = 1; nth <= 5; nth++) left.count({ template: pipy, isOver: nth === 5, seconds: 8 })
    expect(left.estimate()).toBe(6 * 8)
    for (let nth = 1; nth <= 9; nth++) left.count({ template: envoy, isOver: false, seconds: 8 })
    expect(left.estimate()).toBe(8)
    left.count({ template: envoy, isOver: true, seconds: 8 })
    expect(left.estimate()).toBe(0)
  })

  it('takes no pace from trials of an earlier run', () => {
    const left = start()
    left.count({ template: pipy, isOver: false, seconds: null })
    expect(left.estimate()).toBe(11 * 8)
  })
})

describe('renderTimeLeftNote', () => {
  it.each([
    [0, ''],
    [3, ' (about 10 s left)'],
    [71, ' (about 80 s left)'],
    [118, ' (about 2 min left)'],
  ])('of %d s is "%s"', (seconds, text) => expect(renderTimeLeftNote(seconds)).toBe(text))
})
