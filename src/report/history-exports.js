import { stringify } from 'yaml'
import { APPLICATION_CPU } from '../analysis/compare-runs.js'
import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { chooseFreeName } from '../lib/free-name.js'
import { groupBy } from '../lib/group-by.js'
import { listVariedAxes, renderAxes } from '../model/arms.js'

/**
 * A history for programs that look for changes: Apache Otava, which finds change points, and benchstat, which compares
 * runs. Pure.
 * @import { History, HistoryRun, Line } from '../analysis/history.js'
 */

/** @typedef {{ unit: string, scale?: number, better: 'lower' | 'higher' }} Unit scale: how many of the quantity's unit it is; absent: 1 */
/** @typedef {Line & { name: string }} NamedLine name: of the arm, in one word */

/** Units by quantity. benchstat shows sec and B with a prefix, such as µsec. @type {Record<string, Unit>} */
const UNITS = {
  [PRIMARY.name]: { unit: 'sec/req', scale: 1e6, better: 'lower' },
  [APPLICATION_CPU.name]: { unit: 'sec/req', scale: 1e6, better: 'lower' },
  [QUANTITIES.capacity.name]: { unit: 'capacity-req/s', better: 'higher' },
  [QUANTITIES.cpuCores.name]: { unit: 'cores', better: 'lower' },
  [QUANTITIES.rss.name]: { unit: 'rss-B', better: 'lower' },
}

/**
 * Renders Go's benchmark format (https://go.dev/design/14313-benchmark-format): a line for each round of each arm,
 * below the run as configuration, so that `benchstat -col run` has a column for each run.
 * @param {History} history
 * @returns {string} without a line end at its end; empty without runs
 */
export function renderBenchfmt({ runs, lines }) {
  const namedLines = createNamedLines(lines)
  const arms = [...groupBy(namedLines, ({ name }) => name).values()]
  const units = new Map(namedLines.map(({ quantity }) => [UNITS[quantity].unit, UNITS[quantity].better]))
  const rounds = runs.flatMap((run, i) => [
    '',
    `run: ${run.folder}`,
    // benchstat splits results by each key of the configuration, so only the run is a key.
    `# started ${run.startedAt}, kit ${run.kit}`,
    ...arms.flatMap(armLines => renderBenchmarkLines(armLines, i)),
  ])
  return [...[...units].map(([unit, better]) => `Unit ${unit} better=${better}`), ...rounds].join('\n')
}

/**
 * Renders a line for each round with a value: name, iterations (always 1), values with units.
 * @param {NamedLine[]} lines of one arm, at least one
 * @param {number} run index of the run
 * @returns {string[]} [] if no round has a value
 */
function renderBenchmarkLines(lines, run) {
  const count = Math.max(...lines.map(({ values }) => values[run].values.length))
  const rounds = Array.from({ length: count }, (_, round) =>
    lines.flatMap(({ quantity, values }) => {
      const value = values[run].values[round] ?? null
      const { unit, scale = 1 } = UNITS[quantity]
      return value === null ? [] : [`${value / scale} ${unit}`]
    }),
  )
  return rounds
    .filter(values => values.length > 0)
    .map(values => `BenchmarkSidecar/arm=${lines[0].name} 1 ${values.join(' ')}`)
}

/**
 * Renders the input of Apache Otava: its configuration, and a CSV for each line. Otava accepts no empty cell, so a
 * line has rows only for the runs that have a value.
 * @param {History} history
 * @returns {{ name: string, content: string }[]} files of one folder, from which otava is started
 */
export function renderOtava({ runs, lines }) {
  const files = createNamedLines(lines).map(line => {
    const { better } = UNITS[line.quantity]
    const name = `${line.name}.${line.quantity}`
    return {
      test: {
        [name]: {
          type: 'csv',
          file: `${name}.csv`,
          time_column: 'time',
          attributes: ['run', 'kit'],
          metrics: { [line.quantity]: { direction: better === 'higher' ? 1 : -1 } },
        },
      },
      file: { name: `${name}.csv`, content: renderLineCsv(line, runs) },
    }
  })
  const tests = Object.assign({}, ...files.map(({ test }) => test))
  return [{ name: 'otava.yaml', content: stringify({ tests }) }, ...files.map(({ file }) => file)]
}

/**
 * Renders the medians of a line as CSV, with a row for each run that has one.
 * @param {NamedLine} line
 * @param {HistoryRun[]} runs
 * @returns {string} the header alone if no run has a median
 */
function renderLineCsv({ quantity, values }, runs) {
  const rows = runs.flatMap(({ startedAt, folder, kit }, i) =>
    values[i].median === null ? [] : [[startedAt, folder, kit, `${values[i].median}`]],
  )
  return [['time', 'run', 'kit', quantity], ...rows].map(cells => `${cells.map(quoteCell).join(',')}\n`).join('')
}

/** Quotes a cell, if it has a quote, a comma or a line end. @param {string} cell */
const quoteCell = cell => (/[",\n]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

/**
 * Adds to each line the name of its arm, in one word that is also a file name: other characters are `_`. Of arms that would have
 * the same name, each after the first gets a number.
 * @param {Line[]} lines
 * @returns {NamedLine[]}
 */
function createNamedLines(lines) {
  /** The names so far, by the label of a line and the id of its arm. @type {Map<string, string>} */
  const names = new Map()
  const variedAxes = listVariedAxes(lines.filter(({ isControl }) => !isControl).map(({ arm }) => arm))
  return lines.map(line => {
    const labels = line.isControl ? ['applications without sidecars', renderAxes(line.arm, variedAxes)] : [line.label]
    // Go's tools read a number behind a minus as GOMAXPROCS, and a slash as the next key, so both are replaced.
    const name = labels
      .filter(Boolean)
      .join(' ')
      .replace(/[^\p{L}\p{N}.@:=+]+/gu, '_')
    const key = JSON.stringify([name, line.arm.id])
    const takenNames = new Set(names.values())
    const distinctName = names.get(key) ?? chooseFreeName(takenNames, suffix => `${name}${suffix}`, '_')
    names.set(key, distinctName)
    return { ...line, name: distinctName }
  })
}
