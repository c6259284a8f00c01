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

/** @param {{ link: string, sidecars: number, generator?: string, boundBy?: string }} options */
function summaryOf({ link, sidecars, generator = 'k6', boundBy = 'users' }) {
  const arm = {
    target: 'local',
    link,
    load: LOAD,
    capCores: 1,
    boundBy,
    sidecars: Array(sidecars).fill({}),
    quantities: {},
  }
  return /** @type {any} */ ({ arms: [arm], machine: { cpus: '2' }, tools: { [generator]: {} } })
}
