import { expect, it } from 'vitest'
import { renderLoudPairs } from '../../../src/kinds/capacity/loud.js'
import { listArms } from '../../../src/model/results.js'
import { createSummary } from '../../fakes/fake-summary.js'

/** @param {[string, number, number | null][]} points plane, requests/s of the loud pair, p99 of the others @param {number} [windowSeconds] */
const render = (points, windowSeconds = 10) =>
  renderLoudPairs(
    listArms(
      createSummary(
        points.map(([plane, loudPerSecond, p99Ms]) => ({
          plane,
          load: { kind: 'open', ratePerSecond: 200, windowSeconds, ...(loudPerSecond > 0 && { loudPerSecond }) },
          conditions: { pairs: 5 },
          p99: [p99Ms, p99Ms],
        })),
      ),
    ),
  )

it('says how the p99 of quiet pairs moves beside a loud one, of each proxy', () => {
  expect(
    render([
      ['pipy', 1000, 9],
      ['pipy', 0, 2],
      ['pipy', 500, 3],
      ['envoy', 0, 4],
      ['envoy', 500, 4],
    ]),
  ).toEqual([
    'Quiet pairs beside 1000 requests/s to one: p99 pipy 9.0 ms (4.5 × that without).',
    'Quiet pairs beside 500 requests/s to one: p99 pipy 3.0 ms (1.5 × that without), envoy 4.0 ms (1.0 × that without).',
  ])
})

it('says where there is no p99, and which rate has one', () => {
  expect(
    render(
      [
        ['pipy', 0, null],
        ['pipy', 500, null],
      ],
      1.5,
    ),
  ).toEqual([
    'Quiet pairs beside 500 requests/s to one: no p99 of pipy: 300 requests in a window, and a p99 takes 1050 (--rate 700, or --profile full).',
  ])
})

it('says nothing where no pair is loud', () => expect(render([['pipy', 0, 2]])).toEqual([]))
