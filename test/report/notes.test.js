import { expect, it } from 'vitest'
import { listOpenQuestions } from '../../src/kinds/capacity/open-questions.js'
import { listArms } from '../../src/model/results.js'
import { renderDeviations } from '../../src/report/notes.js'
import { DEFAULT_CONDITIONS } from '../fakes/fake-records.js'
import { createResult, createSummary } from '../fakes/fake-summary.js'

it.each([
  [
    'gateway-ratings',
    2,
    'npm run bench -- --cpu 1 --link ratings --generator wrk   capacity of one sidecar at this limit',
  ],
  [
    'ratings',
    1,
    'npm run bench -- --cpu 1 --link ratings --generator wrk   capacity at this limit, beside a lighter load generator',
  ],
])('a run of %s that no sidecar bound names the command with wrk that fits two CPUs', (link, sidecars, line) => {
  expect(listCommands(summaryOf({ link, sidecars }))).toContain(line)
  expect(listCommands(summaryOf({ link, sidecars, generator: 'wrk' })).join()).not.toContain('wrk')
  expect(listCommands(summaryOf({ link, sidecars, boundBy: 'sidecar' })).join()).not.toContain('wrk')
})

it('names what a plane does otherwise than the mesh that deploys it so', () => {
  const deployed = [{ plane: 'pipy:fsm', from: 'FSM', deviations: ['Its scripts are in a folder', 'It has no agent'] }]
  expect(renderDeviations({ deployed })).toEqual([
    'pipy:fsm, otherwise than deployed: Its scripts are in a folder.',
    'pipy:fsm, otherwise than deployed: It has no agent.',
  ])
  expect(renderDeviations({})).toEqual([])
})

it('a run of other planes or TLS than the default names them in each command', () => {
  const fields = { plane: 'caddy', conditions: { ...DEFAULT_CONDITIONS, tls: 'plaintext' } }
  const lines = listCommands(summaryOf({ link: 'pair', sidecars: 2, fields }))
  expect(lines[0]).toBe(
    'npm run bench -- --cpu 0.5 --link pair --planes caddy --tls plaintext   capacity, at a limit that sidecars reach here',
  )
  for (const line of lines) expect(line).toContain('--planes caddy --tls plaintext')
})

it('a machine that other programs filled is asked again, and not for another limit', () => {
  const spoiled = [{ gate: 'neighbour', trials: 3, reason: 'something else used 1 core' }]
  const lines = listCommands(summaryOf({ link: 'pair', sidecars: 2, boundBy: 'host', fields: { spoiled } }))
  expect(lines[0]).toBe('npm run bench -- --cpu 1 --link pair   the same, once nothing else runs on this machine')
})

/** @param {import('../../src/model/types.ts').Summary} summary */
function listCommands(summary) {
  return listOpenQuestions({ ...summary, arms: listArms(summary) }).flatMap(({ commands }) =>
    commands.map(({ command, gives }) => `${command}   ${gives}`),
  )
}

/** @param {{ link: string, sidecars: number, generator?: string, boundBy?: string, fields?: object }} options */
function summaryOf({ link, sidecars, generator = 'k6', boundBy = 'users', fields = {} }) {
  const tools = /** @type {any} */ ({ [generator]: {} })
  const summary = createSummary([{ plane: 'pipy', link }], { tools, machine: { cpus: '2' } })
  const [arm] = listArms(summary)
  const armFields = { ...fields, target: 'local', boundBy, sidecars: Array(sidecars).fill(arm.sidecars[0]) }
  return { ...summary, results: [createResult({ arms: [/** @type {typeof arm} */ ({ ...arm, ...armFields })] })] }
}
