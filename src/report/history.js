import { CONTROL } from '../analysis/compare-runs.js'
import { PRIMARY, QUANTITIES } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { percent } from '../lib/units.js'
import { describeAxes, findVaried } from '../model/axes.js'
import { createColours } from './charts/colours.js'
import { drawOverRuns, tellPoint } from './charts/over-runs.js'
import { joinParts, wrapText } from './text-table.js'
import { capitalise } from './verdicts.js'

/**
 * A history as what a document shows of it, whatever its format. Pure.
 * @import { Quantity } from '../model/types.ts'
 * @import { History, Line } from '../analysis/history.js'
 * @import { HistoryStep } from '../analysis/history-steps.js'
 * @import { QuantityRow } from '../judge/quantities.js'
 * @import { ReportChart } from './charts.js'
 * @import { Table } from './text-table.js'
 */

/** @typedef {ReturnType<typeof createHistoryDocument>} HistoryDocument */

const ROWS = { ...QUANTITIES, [CONTROL.name]: CONTROL }
/** What a step of the applications' CPU per request says. */
const OF_MACHINE = 'the machine changed, or what runs on it'

/** @param {History} history */
export function createHistoryDocument(history) {
  return {
    title: `History of ${history.runs.length} comparable runs`,
    answer: answerOf(history),
    steps: history.steps.map(step => tellStep(step, history)),
    notes: tellNotes(history),
    charts: drawHistory(history),
    changes: tabulateChanges(history),
    left: tabulateLeft(history),
  }
}

/**
 * For the terminal.
 * @param {HistoryDocument} document
 */
export function renderHistoryText({ title, answer, steps, notes, changes, left }) {
  const listed = (/** @type {Table} */ { rows }) => rows.map(cells => cells.map(cell => `${cell}`).join('  '))
  return joinParts([
    [title, ...wrapText(answer)],
    steps.flatMap(step => wrapText(`- ${step}`, '', '  ')),
    changes.rows.length > 0
      ? [`${changes.caption}:`, ...listed(changes).flatMap(line => wrapText(line, '  ', '    '))]
      : [],
    left.rows.length > 0 ? [`${left.caption}:`, ...listed(left).flatMap(line => wrapText(line, '  ', '    '))] : [],
    notes.flatMap(note => wrapText(note)),
  ])
}

/** @param {History} history */
function answerOf({ runs, steps, lines, test }) {
  if (lines.length === 0) return 'Nothing to draw: no run here can be compared with another.'
  const ofSidecars = steps.filter(step => !step.isControl)
  const machines = ofSidecars.filter(step => step.cause === 'machine').length
  if (steps.length === 0 && runs.length < test.runsNeeded)
    return `${count(runs.length, 'run')}: too few to show a step, which takes ${test.runsNeeded}.`
  if (steps.length === 0) return `No step was found in ${count(test.lines, 'line')} of ${runs.length} runs.`
  if (ofSidecars.length === 0) return `${count(steps.length, 'step')}, without sidecars: ${OF_MACHINE}.`
  const but = machines === 0 ? '' : `, ${machines === ofSidecars.length ? 'all' : machines} of the machine`
  return `${count(ofSidecars.length, 'step')} in ${runs.length} runs${but}: ${ofSidecars.map(step => `${step.line} ${sayGap(step)}`).join('; ')}.`
}

/**
 * @param {HistoryStep} step
 * @param {History} history
 */
function tellStep(step, { runs }) {
  const { line, run, before, after, p, cause, control, changes } = step
  const row = ROWS[step.quantity]
  const level = (/** @type {HistoryStep['before']} */ quantity) => tellPoint(scaleValue(quantity, row), digitsOf(row))
  const where = `from ${nameRun(runs[run])} on (run ${run + 1} of ${runs.length})`
  const what = `${line} ${sayGap(step)} ${where}: ${level(before)} to ${level(after)} ${row.unit}, medians of ${step.runs[0]} and ${count(step.runs[1], 'run')}, p = ${p.toPrecision(2)}.`
  return [what, sayCause({ cause, control, isControl: step.isControl }), sayChanges(changes, { run, runs })]
    .filter(Boolean)
    .join(' ')
}

/** @param {Pick<HistoryStep, 'quantity' | 'ratio'>} step */
function sayGap({ quantity, ratio }) {
  const { compared } = ROWS[quantity]
  const words = ratio < 1 ? compared?.less : compared?.more
  return `${words}`.replace('%', percent(Math.abs(ratio - 1)))
}

/** @param {Pick<HistoryStep, 'cause' | 'control' | 'isControl'>} step */
function sayCause({ cause, control, isControl }) {
  if (isControl) return `No sidecar runs there: ${OF_MACHINE}.`
  if (cause === null) return ''
  if (cause === 'unknown' || control === null)
    return 'Nothing was measured without sidecars to tell whether it is the machine.'
  const beside = `without sidecars the applications used ${percent(Math.abs(control - 1), 1)} ${control < 1 ? 'less' : 'more'} CPU per request`
  if (cause === 'machine') return `It is the machine, not the sidecars: ${beside}, in a step at the same place.`
  if (cause === 'undecided') return `It may be the machine: ${beside}.`
  return `It is not the machine: ${beside}.`
}

/**
 * @param {HistoryStep['changes']} changes
 * @param {{ run: number, runs: History['runs'] }} step
 */
function sayChanges(changes, { run, runs }) {
  if (changes.length === 0) {
    const marked = runs.flatMap((other, at) => (other.changes.length > 0 ? [at] : []))
    const nearest = marked.sort((a, b) => Math.abs(a - run) - Math.abs(b - run))[0]
    const none = 'No kit, tool, script or kernel changed there'
    if (nearest === undefined) return `${none}.`
    return `${none}; noise can move a step by some runs, and the nearest change is that of run ${nearest + 1}: ${runs[nearest].changes.map(sayChange).join('; ')}.`
  }
  const at = (/** @type {number} */ other) =>
    other === run ? 'there' : other < run ? 'one run before' : 'one run behind'
  const groups = groupBy(changes, change => at(change.run))
  return [...groups].map(([where, own]) => `Changed ${where}: ${own.map(sayChange).join('; ')}.`).join(' ')
}

/** @param {{ label: string, old: string, next: string }} change */
function sayChange({ label, old, next }) {
  return `${label}, ${old} → ${next}`
}

/** @param {History} history */
function tellNotes({ lines, runs, test, nodes, unmatched }) {
  const controls = new Set(lines.flatMap(line => (line.isControl ? [line.group] : [])))
  const without = lines.some(line => !line.isControl && !controls.has(line.group) && line.arm.load.kind !== 'idle')
  return [
    `A step is found by E-divisive (Matteson and James 2014) with a permutation test over the medians of whole runs. In histories without any step it finds one in ${percent(test.falseAlarms)}, over all ${count(test.lines, 'line')} together; it takes ${test.runsNeeded} runs to show one, three on either side, and 3 %.`,
    'The test takes runs without a step to be alike but for chance. A machine that is slower for some hours is not: such a step stands in the line without sidecars, too.',
    ...(without
      ? ['Nothing was measured without sidecars: a step may be that of the machine. Run with --planes none,… to tell.']
      : []),
    ...(nodes.length > 1
      ? [`The runs are from ${nodes.length} machines of the same kind: what differs between them is in every line.`]
      : []),
    ...unmatched.map(
      ({ arm, runs: of }) => `Not drawn: ${arm}, of ${count(of, 'run')}: the last run does not have it.`,
    ),
    ...(runs.length > 0 ? [] : ['Runs of the profile smoke and searches are in no history.']),
  ]
}

/**
 * A chart for every quantity of the arms that are measured alike.
 * @param {History} history
 * @returns {ReportChart[]}
 */
function drawHistory({ lines, runs, steps }) {
  const colourFor = createColours(lines.filter(line => !line.isControl).map(line => line.arm))
  const varied = findVaried(lines.filter(line => !line.isControl).map(line => line.arm))
  const nameOfChart = (/** @type {Line} */ line) =>
    JSON.stringify([line.isControl ? PRIMARY.name : line.quantity, line.group])
  const charts = [...groupBy(lines, nameOfChart).values()].filter(own => own.some(line => !line.isControl))
  // Without the year, so that more of them fit.
  const names = runs.map(run => nameRun(run).slice(5))
  return charts.map((own, i) => {
    const row = ROWS[own[0].quantity]
    const title = [capitalise(`${row.compared?.label}`), describeAxes(own[0].arm, varied)].filter(Boolean).join(': ')
    const drawn = own.map(line => ({
      ...{ label: line.label, colour: colourFor(line.arm), isControl: line.isControl },
      points: line.values.map(value => scaleValue(value, row)),
      levels: findLevels(line, { steps, row }),
    }))
    const marks = runs.flatMap(({ changes }, run) =>
      changes.length > 0 ? [{ run, label: changes.map(({ label }) => label.split(' of ')[0]).join(', ') }] : [],
    )
    const chart = drawOverRuns({ title, unit: row.unit, digits: digitsOf(row), runs: names, lines: drawn, marks })
    return { ...chart, id: `over-runs-${i + 1}`, table: tabulateRuns({ title, row, runs, drawn }) }
  })
}

/**
 * The median of the runs from one step to the next.
 * @param {Line} line
 * @param {{ steps: HistoryStep[], row: QuantityRow }} options
 */
function findLevels(line, { steps, row }) {
  const own = steps.filter(s => s.line === line.label && s.quantity === line.quantity && s.group === line.group)
  if (own.length === 0) return []
  const ends = [0, ...own.map(step => step.run), line.values.length]
  const medians = [own[0].before, ...own.map(step => step.after)]
  return medians.flatMap((quantity, i) => {
    const level = scaleValue(quantity, row)
    return level ? [{ from: ends[i], to: ends[i + 1] - 1, median: level.median }] : []
  })
}

/**
 * @param {Quantity} quantity
 * @param {QuantityRow} row
 */
function scaleValue({ median, low, high }, { scale = 1 }) {
  return median === null ? null : { median: median / scale, low: low && low / scale, high: high && high / scale }
}

/** @param {QuantityRow} row */
function digitsOf({ digits, digitsOfOne = digits }) {
  return digitsOfOne
}

/**
 * @param {{ title: string, row: QuantityRow, runs: History['runs'], drawn: { label: string, points: ReturnType<typeof scaleValue>[] }[] }} given
 * @returns {Table}
 */
function tabulateRuns({ title, row, runs, drawn }) {
  return {
    caption: `${title}, ${row.unit}`,
    columns: [
      ['run', 'left'],
      ['started', 'left'],
      ...drawn.map(({ label }) => /** @type {[string, 'right']} */ ([label, 'right'])),
    ],
    rows: runs.map(({ folder, startedAt }, i) => [
      ...[folder, startedAt, ...drawn.map(({ points }) => tellPoint(points[i], digitsOf(row)))],
    ]),
  }
}

/**
 * @param {History} history
 * @returns {Table}
 */
function tabulateChanges({ runs }) {
  return {
    caption: 'Where the kit, a tool, a script or the kernel changed',
    columns: [
      ['from run', 'left'],
      ['what changed', 'left'],
    ],
    rows: runs.flatMap((run, i) =>
      run.changes.length > 0
        ? [[`${i + 1}, ${nameRun(run)}, ${run.folder}`, run.changes.map(sayChange).join('\n')]]
        : [],
    ),
  }
}

/**
 * @param {History} history
 * @returns {Table}
 */
function tabulateLeft({ left, reference }) {
  return {
    caption: `Not comparable${reference === null ? '' : ` with ${reference}; of the two, the earlier is "old"`}`,
    columns: [
      ['run', 'left'],
      ['why', 'left'],
    ],
    rows: left.map(({ folder, reasons }) => [folder, reasons.join('\n')]),
  }
}

/** Its time, to the minute. @param {{ startedAt: string }} run */
function nameRun({ startedAt }) {
  return startedAt.slice(0, 16).replace('T', ' ')
}

/** @param {number} many @param {string} noun */
function count(many, noun) {
  return `${many} ${noun}${many === 1 ? '' : 's'}`
}
