import { expect, it } from 'vitest'
import { renderNext } from '../../src/report/notes.js'

const LOAD = { kind: 'closed', connections: 'kept', hasCertificate: false }

it.each([
  [
    'gateway-ratings',
    2,
    'Capacity of one sidecar at this cap: npm run bench -- --cpu 1 --link ratings --generator wrk',
  ],
  ['ratings', 1, 'Capacity beside a lighter load: npm run bench -- --cpu 1 --link ratings --generator wrk'],
])('a run of %s that no sidecar bound names the command with wrk that fits two CPUs', (link, sidecars, line) => {
  expect(renderNext(summaryOf({ link, sidecars }))).toContain(line)
  expect(renderNext(summaryOf({ link, sidecars, generator: 'wrk' })).join()).not.toContain('wrk')
  expect(renderNext(summaryOf({ link, sidecars, boundBy: 'sidecar' })).join()).not.toContain('wrk')
})

it.each([
  ['users', 0.6, true],
  ['users', 0.29, false],
  ['worker', 0.6, false],
])('a run bound by %s at %d of its cap names the check of an estimate: %s', (boundBy, cpuOfCap, isNamed) => {
  const line = 'Estimated capacity at this cap, checked at 0.5: npm run bench -- --cpu 0.5,1 --link ratings'
  const lines = renderNext(summaryOf({ link: 'ratings', sidecars: 1, boundBy, cpuOfCap }))
  expect(lines.includes(line)).toBe(isNamed)
  expect(lines).toContain('Capacity: npm run bench -- --cpu 0.5 --link ratings')
})

/** @param {{ link: string, sidecars: number, generator?: string, boundBy?: string, cpuOfCap?: number }} options */
function summaryOf({ link, sidecars, generator = 'k6', boundBy = 'users', cpuOfCap = 0.5 }) {
  const arm = {
    target: 'local',
    link,
    load: LOAD,
    capCores: 1,
    boundBy,
    sidecars: Array(sidecars).fill({}),
    quantities: {},
    cpuOfCap: { median: cpuOfCap, values: [cpuOfCap] },
  }
  return /** @type {any} */ ({ arms: [arm], machine: { cpus: '2' }, tools: { [generator]: {} } })
}
