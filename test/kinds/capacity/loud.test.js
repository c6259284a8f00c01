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

/** @typedef {Parameters<typeof createSummary>[0][0]} Arm */
/** Renders arms at 500 requests/s to one pair, and 200 to the others. @param {(Arm & { loudPerSecond?: number })[]} arms */
const renderArms = arms =>
  renderLoudPairs(
    listArms(
      createSummary(
        arms.map(({ loudPerSecond = 500, load, conditions, ...arm }) => ({
          load: {
            ...{ kind: 'open', ratePerSecond: 200, windowSeconds: 10, ...load },
            ...(loudPerSecond > 0 && { loudPerSecond }),
          },
          conditions: { pairs: 5, ...conditions },
          ...arm,
        })),
      ),
    ),
  )
const spoiledBy = (/** @type {string} */ gate, reason = gate) => ({ spoiled: [{ gate, reason, trials: 6 }] })

it('names the rate that the loud pair got if it is not the requested one', () => {
  const saturated = { fields: spoiledBy('loud-saturated') }
  expect(
    renderArms([
      { plane: 'pipy', p99: [9], loudThroughput: [475], ...saturated },
      { plane: 'pipy', p99: [2], loudPerSecond: 0 },
      { plane: 'ztunnel', p99: [3], loudThroughput: [80], ...saturated },
      { plane: 'ztunnel', p99: [2], loudPerSecond: 0 },
      { plane: 'envoy', p99: [3], loudThroughput: [474] },
    ]),
  ).toEqual([
    'Quiet pairs beside 500 requests/s to one: p99 pipy 9.0 ms (4.5 × that without), ztunnel 3.0 ms (1.5 × that without; 80 of the 500 requests/s were answered: saturated), envoy 3.0 ms (474 of the 500 requests/s were answered).',
  ])
})

it('has in each sentence what differs in other axes', () => {
  const arms = [100, 200].map(ratePerSecond => ({ plane: 'pipy', p99: [2], load: { ratePerSecond } }))
  expect(renderArms(arms)).toEqual([
    'Quiet pairs beside 500 requests/s to one (100 requests/s): p99 pipy 2.0 ms.',
    'Quiet pairs beside 500 requests/s to one (200 requests/s): p99 pipy 2.0 ms.',
  ])
  const [three, five] = renderArms([3, 5].map(pairs => ({ plane: 'pipy', p99: [2], conditions: { pairs } })))
  expect([three, five].map(sentence => sentence.split(':')[0])).toEqual([
    'Quiet pairs beside 500 requests/s to one (3 pairs)',
    'Quiet pairs beside 500 requests/s to one (5 pairs)',
  ])
})

it('has the reason of each proxy without a p99, with or without a loud pair', () => {
  expect(
    renderArms([
      { plane: 'pipy', fields: spoiledBy('quiet-pairs', 'pair 3 was sent 0 requests') },
      { plane: 'ztunnel', fields: spoiledBy('knee', 'bound by host') },
      { plane: 'linkerd', fields: spoiledBy('knee', 'bound by host') },
      { plane: 'envoy', p99: [3] },
      { plane: 'envoy', p99: [null], loudPerSecond: 0 },
    ]),
  ).toEqual([
    'Quiet pairs beside 500 requests/s to one: p99 envoy 3.0 ms (no p99 without it); no p99 of pipy: pair 3 was sent 0 requests; no p99 of ztunnel, linkerd: bound by host.',
  ])
})

it('says nothing if no pair is loud', () => expect(render([['pipy', 0, 2]])).toEqual([]))
