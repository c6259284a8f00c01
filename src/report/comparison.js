import { renderPair } from '../answer/pair.js'
import { dropEmptyCells } from '../answer/picture.js'
import { PRIMARY } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise, joinWords } from '../lib/letters.js'
import { joinParts } from '../lib/text-table.js'
import { renderNounCount as countOf, renderInterval, renderPercent } from '../lib/units.js'
import { createGroupKey, listVariedAxes, renderAxes } from '../model/arms.js'
import { renderThreshold } from './notes.js'
import { renderSectionsText } from './section-text.js'
import { createGroupBlocks, renderReasons, renderVerdict } from './verdicts.js'

/**
 * Renders the comparison of two runs for the terminal. Pure.
 * @import { Comparison } from '../model/types.ts'
 * @import { Section } from './section.js'
 * @import { ComparedRun, HeldThreshold, RunComparison } from '../analysis/compare-runs.js'
 * @typedef {Pick<ComparedRun, 'folder' | 'manifest'>} Named
 */

/** Columns of the answer: the name of a quantity, and its heading. @type {[string, string][]} */
const COLUMNS = [
  [PRIMARY.name, 'CPU per request'],
  ['rss', 'memory'],
  ['capacity', 'capacity'],
  ['p99', 'p99'],
]
const SENTENCES_MOST = 3

/**
 * Creates the answer of a comparison, new over old: a row for each arm, and the first SENTENCES_MOST verdicts. If
 * interleaved arms were compared, others are left out.
 * @param {RunComparison} result
 * @param {{ old: Named, new: Named }} runs
 * @returns {import('./answer/answer.js').Answer}
 */
export function createComparisonAnswer({ comparisons, controls, refused, warnings, thresholds }, runs) {
  // Interleaved trials vary less: only the details have the windows that a run measured besides.
  const isInterleaved = comparisons.some(({ load }) => load.isInterleaved)
  const whole = comparisons.filter(c => c.service === null && (c.load.isInterleaved ?? false) === isInterleaved)
  const varied = listVariedAxes(whole)
  const arms = [...groupBy(whole, c => JSON.stringify([c.a, c.b, createGroupKey(c)])).values()]
  const find = (/** @type {Comparison[]} */ candidates, /** @type {string} */ name) =>
    candidates.find(c => c.quantity === name)
  const verdicts = arms.flatMap(armComparisons => {
    const primary = find(armComparisons, PRIMARY.name) ?? armComparisons[0]
    const conditions = arms.length > 1 ? renderAxes(armComparisons[0], varied) : ''
    const sentence = renderPair(
      primary,
      primary.quantity === 'rss' ? [] : armComparisons.filter(c => c.quantity === 'rss'),
    )
    return [conditions ? `${capitalise(conditions)}: ${sentence}` : sentence]
  })
  const repeats = Math.max(0, ...whole.map(({ ratio }) => ratio.values.filter(value => value !== null).length))
  const sentences = [
    ...verdicts.slice(0, SENTENCES_MOST),
    ...thresholds.map(threshold => `${renderHeldThreshold(threshold)}.`),
  ]
  return {
    conditions: ['compare', `old: ${runs.old.folder}`, `new: ${runs.new.folder}`, ...renderComparedTrials(whole)],
    pictures:
      arms.length === 0
        ? []
        : [
            dropEmptyCells({
              columns: COLUMNS.map(([, heading]) => ({ heading: `${heading}, new / old` })),
              rows: arms.map(armComparisons => ({
                label: [armComparisons[0].a.replace(/ in new$/, ''), renderAxes(armComparisons[0], varied)]
                  .filter(Boolean)
                  .join(', '),
                cells: COLUMNS.map(([name]) => renderChangeCell(find(armComparisons, name))),
              })),
            }),
          ],
    verdicts: sentences.length > 0 ? sentences : ['Nothing could be compared.'],
    basis: [
      ...controls.slice(0, 1).map(control => `${renderControl(control, controls)}.`),
      ...(repeats > 0 ? [`${countOf(repeats, 'repeat')} a side.`] : []),
    ],
    warnings: [
      ...[
        ...groupBy(refused, ({ isInterleaved, differing }) => JSON.stringify([isInterleaved, differing])).values(),
      ].map(renderRefusedArms),
      ...warnings.map(warning => `${capitalise(warning)}.`),
    ],
    notMeasured: [],
  }
}

/**
 * Renders which trials were compared, since a run may have interleaved ones and others.
 * @param {Comparison[]} comparisons
 * @returns {string[]} one phrase; []: none were
 */
function renderComparedTrials(comparisons) {
  if (comparisons.length === 0) return []
  const limits = [...new Set(comparisons.map(({ cpuLimitCores }) => cpuLimitCores))]
  const limit = limits.length === 1 && limits[0] !== null ? `, ${limits[0]} CPU each` : ''
  return [`${comparisons[0].load.isInterleaved ? 'interleaved' : 'one proxy after the other'}${limit}`]
}

/**
 * Renders arms that were not compared, all for the same reason.
 * @param {RunComparison['refused']} refused
 * @returns {string} a sentence
 */
function renderRefusedArms(refused) {
  const [{ isInterleaved, differing }] = refused
  const names = joinWords(refused.map(({ arm }) => arm))
  return `Not compared${isInterleaved ? ', interleaved' : ''}: ${names} (${differing.join('; ')}).`
}

/**
 * Renders a ratio with its interval.
 * @param {Comparison | undefined} comparison undefined: the quantity was not compared
 * @returns {import('../answer/picture.js').Cell | null} null: it was not compared, or is invalid
 */
function renderChangeCell(comparison) {
  if (comparison === undefined || comparison.ratio.median === null || comparison.verdict === 'invalid') return null
  const { median, low, high } = comparison.ratio
  const interval = renderInterval(comparison.ratio, end => end.toFixed(2), ' (no interval yet)')
  return { text: `${median.toFixed(2)}${interval}`, value: median, low, high }
}

/**
 * Renders the two runs, warnings, arms that were not compared, and every verdict over all sidecars, control and
 * threshold.
 * @param {RunComparison} result
 * @param {{ old: Named, new: Named }} runs
 * @returns {string}
 */
export function renderComparisonDetails({ comparisons, controls, refused, warnings, thresholds }, runs) {
  const createSentenceSection = (/** @type {string} */ id, /** @type {string[]} */ lines) =>
    /** @type {Section} */ ({ id, name: capitalise(id), blocks: [{ type: 'sentences', lines }] })
  return joinParts([
    [`old: ${renderRunSource(runs.old)}`, `new: ${renderRunSource(runs.new)}`],
    ...renderSectionsText([
      createSentenceSection(
        'warnings',
        warnings.map(warning => `warning: ${warning}`),
      ),
      createSentenceSection(
        'refused',
        refused.map(({ arm, differing }) => `not compared: ${arm}: ${differing.join('; ')}`),
      ),
      ...createArmSections(comparisons.filter(c => c.service === null)),
      createSentenceSection(
        'controls',
        controls.map(control => renderControl(control, controls)),
      ),
      createSentenceSection('thresholds', thresholds.map(renderHeldThreshold)),
    ]),
  ])
}

/** Renders the folder of a run, its experiment, start and kit. @param {Named} run @returns {string} */
function renderRunSource({ folder, manifest: { run, kit } }) {
  const version = [kit.version, kit.git].filter(Boolean).join(' ')
  return `${folder} (experiment ${run.experiment}, started ${run.startedAt}, kit ${version})`
}

/**
 * Creates a section of verdicts for each arm.
 * @param {Comparison[]} comparisons over all sidecars
 * @returns {Section[]}
 */
function createArmSections(comparisons) {
  const createComparisonKey = (/** @type {Comparison} */ c) => JSON.stringify([c.a, c.b, createGroupKey(c)])
  const arms = [...groupBy(comparisons, createComparisonKey).values()]
  const varied = listVariedAxes(comparisons)
  return arms.map(armComparisons => {
    const [first] = armComparisons
    const [primary, secondary] = [true, false].map(isPrimary =>
      armComparisons.filter(c => (c.quantity === PRIMARY.name) === isPrimary).map(renderVerdict),
    )
    return {
      id: 'verdicts',
      name: [`${first.a} and ${first.b}`, renderAxes(first, varied)].filter(Boolean).join(', '),
      isNamed: arms.length > 1,
      blocks: createGroupBlocks({ primary, secondary }),
    }
  })
}

/**
 * Renders how the applications' CPU per request changed without sidecars.
 * @param {Comparison} control of an arm
 * @param {Comparison[]} controls all of them, for the axes in which they differ
 * @returns {string}
 */
function renderControl(control, controls) {
  const { ratio, reasons } = control
  const where = renderAxes(control, listVariedAxes(controls))
  const without = `Without sidecars${where ? ` (${where})` : ''}`
  const notes = renderReasons(reasons)
  if (ratio.median === null) return `${without} it is not known what the applications' CPU per request did${notes}`
  const gap = `${renderPercent(Math.abs(ratio.median - 1), 1)} ${ratio.median < 1 ? 'less' : 'more'}`
  return `${without} the applications used ${gap} CPU per request in new${notes}`
}

/**
 * Renders whether a threshold was met, or that no arm tested it.
 * @param {HeldThreshold} threshold
 * @returns {string}
 */
function renderHeldThreshold({ arm, ...threshold }) {
  if (arm !== null) return renderThreshold({ ...threshold, arm })
  return `Threshold ${threshold.expression}: not tested: no arm that has its quantity was compared`
}
