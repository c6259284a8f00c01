import { groupBy } from '../lib/group-by.js'
import { joinParts, left as leftColumns, wrapText } from '../lib/text-table.js'
import { count, percent } from '../lib/units.js'
import { tellMedian } from './charts/rounds.js'
import { digitsOf, drawHistory, nameRun, ROWS, scaleValue } from './history-charts.js'
import { renderCharts, renderList, renderPage, renderSections, renderTable } from './html-page.js'
import { html } from './markup.js'

/**
 * The document of a history, as text for the terminal and as a page. Pure.
 * @import { HistoryStep } from '../analysis/history-steps.js'
 * @import { History } from '../analysis/history.js' @import { Table } from '../lib/text-table.js'
 * @typedef {ReturnType<typeof createHistoryDocument>} HistoryDocument
 */

/** Makes the document. @param {History} history */
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

/** Renders the text for the terminal. @param {HistoryDocument} document */
export function renderHistoryText({ title, answer, steps, notes, changes, left }) {
  const list = (/** @type {Table} */ { caption, rows }) =>
    rows.length === 0 ? [] : [`${caption}:`, ...rows.flatMap(cells => wrapText(cells.join('  '), '  ', '    '))]
  return joinParts([
    [title, ...wrapText(answer)],
    steps.flatMap(step => wrapText(`- ${step}`, '', '  ')),
    list(changes),
    list(left),
    notes.flatMap(note => wrapText(note)),
  ])
}

/** Renders the page. @param {HistoryDocument} document @param {import('./html-page.js').Assets} assets */
export function renderHistoryHtml({ title, answer, steps, notes, charts, changes, left }, assets) {
  const list = (/** @type {Table} */ table) => (table.rows.length > 0 ? [renderTable(table, 'prose')] : [])
  const sections = [
    { id: 'steps', name: 'Steps', body: renderList(steps) },
    { id: 'changes', name: 'Changes', body: list(changes) },
    { id: 'left', name: 'Not comparable', body: list(left) },
    { id: 'method', name: 'How to read it', body: renderList(notes) },
  ].filter(section => section.body.length > 0)
  const body = html`<header>
<h1>${title}</h1>
<p class="answer">${answer}</p>
</header>
<main>
<section id="charts" aria-label="The history as charts">${renderCharts(charts)}
<p class="muted">A dot is the median of a run, an upright line its 95 % interval, a band the level between steps. Dashed: something changed from that run on. Grey: the applications, where no sidecar runs.</p></section>
${renderSections(sections)}
</main>`
  return renderPage({ title: `${title}: ${answer}`, body, charts, assets })
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

/** @param {History} history */
function tellNotes({ lines, runs, reference, test, nodes, unmatched }) {
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
      ({ arm, runs: of }) => `Not drawn: ${arm}, of ${count(of, 'run')}: ${reference} does not have it.`,
    ),
    ...(runs.length > 0 ? [] : ['Runs of the profile smoke and searches are in no history.']),
  ]
}

/** @param {History} history @returns {Table} */
function tabulateChanges({ runs }) {
  return {
    caption: 'Where the kit, a tool, a script or the kernel changed',
    columns: leftColumns('from run', 'what changed'),
    rows: runs.flatMap((run, i) =>
      run.changes.length > 0
        ? [[`${i + 1}, ${nameRun(run)}, ${run.folder}`, run.changes.map(sayChange).join('\n')]]
        : [],
    ),
  }
}

/** @param {History} history @returns {Table} */
function tabulateLeft({ left, reference }) {
  return {
    caption: `Not comparable${reference === null ? '' : ` with ${reference}; of the two, the earlier is "old"`}`,
    columns: leftColumns('run', 'why'),
    rows: left.map(({ folder, reasons }) => [folder, reasons.join('\n')]),
  }
}

/** The meaning of a step in the applications' CPU per request. */
const OF_MACHINE = 'the machine changed, or what runs on it'

/** @param {HistoryStep} step @param {History} history */
function tellStep(step, { runs }) {
  const { line, run, before, after, p, cause, control, changes } = step
  const row = ROWS[step.quantity]
  const level = (/** @type {HistoryStep['before']} */ quantity) => tellMedian(scaleValue(quantity, row), digitsOf(row))
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

/** @param {HistoryStep['changes']} changes @param {{ run: number, runs: History['runs'] }} step */
function sayChanges(changes, { run, runs }) {
  if (changes.length === 0) {
    const marked = runs.flatMap((other, at) => (other.changes.length > 0 ? [at] : []))
    const nearest = marked.sort((a, b) => Math.abs(a - run) - Math.abs(b - run))[0]
    const none = 'No kit, tool, script or kernel changed there'
    if (nearest === undefined) return `${none}.`
    return `${none}; noise can move a step by some runs, and the nearest change is that of run ${nearest + 1}: ${runs[nearest].changes.map(sayChange).join('; ')}.`
  }
  const at = (/** @type {number} */ other) => {
    if (other === run) return 'there'
    const apart = Math.abs(other - run)
    return `${apart === 1 ? 'one run' : count(apart, 'run')} ${other < run ? 'before' : 'behind'}`
  }
  const groups = groupBy(changes, change => at(change.run))
  return [...groups].map(([where, own]) => `Changed ${where}: ${own.map(sayChange).join('; ')}.`).join(' ')
}

/** @param {{ label: string, old: string, next: string }} change */
function sayChange({ label, old, next }) {
  return `${label}, ${old} → ${next}`
}
