import { writeFileSync } from 'node:fs'

/**
 * The figures of docs/reliability.md.
 * @typedef {{ fault: string, phase: string, injected: number, survived: number, lost: number, leftovers: number }} Row
 */

/** @type {Map<string, Row>} */
const rows = new Map()

/**
 * @param {{ fault: string, phase: string, hasSurvived: boolean, lost: number, leftovers: number }} outcome
 *   hasSurvived: as documented, with every recorded trial readable; leftovers: after the run, or after `cleanup` where it was killed
 */
export function count({ fault, phase, hasSurvived, lost, leftovers }) {
  const key = `${fault} ${phase}`
  const row = rows.get(key) ?? { fault, phase, injected: 0, survived: 0, lost: 0, leftovers: 0 }
  rows.set(key, {
    ...row,
    injected: row.injected + 1,
    survived: row.survived + (hasSurvived ? 1 : 0),
    lost: row.lost + lost,
    leftovers: row.leftovers + leftovers,
  })
}

/** Prints the table, and writes it where FAULTS_TABLE names a file. */
export function printTable() {
  const lines = [
    '| fault | phase | injected | survived | recorded trials lost | leftovers |',
    '| --- | --- | --: | --: | --: | --: |',
    ...[...rows.values()].map(
      row => `| ${row.fault} | ${row.phase} | ${row.injected} | ${row.survived} | ${row.lost} | ${row.leftovers} |`,
    ),
  ]
  console.log(lines.join('\n'))
  if (process.env.FAULTS_TABLE) writeFileSync(process.env.FAULTS_TABLE, `${lines.join('\n')}\n`)
}
