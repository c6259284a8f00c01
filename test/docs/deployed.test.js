import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { readAnyExperiment } from '../../src/prepare/read-experiment.js'

/** The lines of the table of all sidecars. @param {string} file */
function readDeployedTable(file) {
  const lines = readFileSync(file, 'utf8').split('\n')
  const start = lines.findIndex(line => line.startsWith('| sidecar | carries |'))
  return lines.slice(start, lines.indexOf('', start))
}

const table = readDeployedTable('README.md')

it('has one table of the sidecars that meshes ship, which is the same in the README and on its page', () => {
  expect(table.length).toBeGreaterThan(2)
  expect(readDeployedTable('docs/as-deployed.md')).toEqual(table)
})

it('has each contender of as-deployed in that table', () => {
  const experiment = readAnyExperiment('as-deployed')
  const planes = 'axes' in experiment ? experiment.axes.plane : []
  expect(planes).not.toEqual([])
  const rows = table.slice(2).flatMap(line => /^\| `([^`]+)`/.exec(line)?.[1] ?? [])
  expect(rows).toEqual(expect.arrayContaining(/** @type {string[]} */ (planes)))
})
