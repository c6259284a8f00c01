import { countRatios, renderPair } from '../answer/pair.js'
import { dropEmptyRowsAndColumns } from '../answer/picture.js'
import { PRIMARY } from '../judge/quantities.js'
import { groupBy } from '../lib/group-by.js'
import { capitalise, joinWords } from '../lib/letters.js'
import { joinParts } from '../lib/text-table.js'
import { renderInterval, renderNounCount, renderPercent } from '../lib/units.js'
import { createGroupKey, listVariedAxes, renderAxes } from '../model/arms.js'
import { renderThreshold } from './notes.js'
import { renderSectionsText } from './section-text.js'
import { createVerdictGroupBlocks, renderComparisonVerdict, renderReasons } from './verdicts.js'

/**
 * The comparison of two runs: its answer, and its details for the terminal. Pure.
 * @import { AxisName, Comparison } from '../model/types.ts'
 * @import { Cell, Picture } from '../answer/picture.js'
 * @import { Section } from './section.js'
 * @import { ComparedRun, HeldThreshold, RunComparison } from '../analysis/compare-runs.js'
 * @typedef {Pick<ComparedRun, 'folder' | 'manifest'>} NamedRun
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
 * Creates the answer of a comparison, new over old: a row for each arm, the first SENTENCES_MOST verdicts, and all thresholds. If
 * interleaved arms were compared, others are left out.
 * @param {RunComparison} result
 * @param {{ old: NamedRun, new: NamedRun }} runs
 * @returns {import('./answer/answer.js').Answer} without a picture if no arm was compared; with at least one verdict
 */
export function createComparisonAnswer({ comparisons, controls, refused, warnings, thresholds }, runs) {
  // Interleaved trials vary less: only the details have the windows that a run measured besides.
  const isInterleaved = comparisons.some(({ load }) => load.isInterleaved)
  const shownComparisons = comparisons.filter(
    c => c.service === null && (c.load.isInterleaved ?? false) === isInterleaved,
  )
  const arms = groupByArm(shownComparisons)
  const variedAxes = listVariedAxes(shownComparisons)
  const repeats = Math.max(0, ...shownComparisons.map(countRatios))
  const verdicts = [
    ...renderArmVerdicts(arms.slice(0, SENTENCES_MOST), arms.length > 1 ? variedAxes : []),
    ...thresholds.map(threshold => `${renderHeldThreshold(threshold)}.`),
  ]
  const refusals = groupBy(refused, arm => JSON.stringify([arm.isInterleaved, arm.differing]))
  return {
    conditions: [
      'compare',
      `old: ${runs.old.folder}`,
      `new: ${runs.new.folder}`,
      ...renderComparedTrials(shownComparisons),
    ],
    pictures: arms.length === 0 ? [] : [createChangePicture(arms, variedAxes)],
    verdicts: verdicts.length > 0 ? verdicts : ['Nothing could be compared.'],
    basis: [
      ...controls.slice(0, 1).map(control => `${renderControl(control, controls)}.`),
      ...(repeats > 0 ? [`${renderNounCount(repeats, 'repeat')} a side.`] : []),
    ],
    warnings: [...[...refusals.values()].map(renderRefusedArms), ...warnings.map(warning => `${capitalise(warning)}.`)],
    notMeasured: [],
  }
}

/**
 * Groups comparisons by the arm that is in both runs.
 * @param {Comparison[]} comparisons
 * @returns {Comparison[][]} for each arm its quantities
 */
function groupByArm(comparisons) {
  return [...groupBy(comparisons, c => JSON.stringify([c.a, c.b, createGroupKey(c)])).values()]
}

/**
 * Finds the comparison of a quantity.
 * @param {Comparison[]} comparisons of one arm
 * @param {string} quantity its name
 * @returns {Comparison | undefined} undefined if the quantity was not compared
 */
function findComparison(comparisons, quantity) {
  return comparisons.find(comparison => comparison.quantity === quantity)
}

/**
 * Renders the verdict on each arm, by its CPU per request and memory. Without a CPU per request, its first quantity replaces that.
 * @param {Comparison[][]} arms for each its comparisons
 * @param {AxisName[]} variedAxes their values are in the sentences
 * @returns {string[]} a sentence for each arm
 */
function renderArmVerdicts(arms, variedAxes) {
  return arms.map(comparisons => {
    const primary = findComparison(comparisons, PRIMARY.name) ?? comparisons[0]
    const memory = comparisons.filter(({ quantity }) => quantity === 'rss' && quantity !== primary.quantity)
    const conditions = renderAxes(primary, variedAxes)
    const sentence = renderPair(primary, memory)
    return conditions ? `${capitalise(conditions)}: ${sentence}` : sentence
  })
}

/**
 * Creates the picture of the ratios, with a row for each arm and a column for each quantity of COLUMNS.
 * @param {Comparison[][]} arms for each its comparisons
 * @param {AxisName[]} variedAxes their values are in the labels
 * @returns {Picture} without columns and rows that have no ratio
 */
function createChangePicture(arms, variedAxes) {
  return dropEmptyRowsAndColumns({
    columns: COLUMNS.map(([, heading]) => ({ heading: `${heading}, new / old` })),
    rows: arms.map(comparisons => {
      const name = comparisons[0].a.replace(/ in new$/, '')
      return {
        label: [name, renderAxes(comparisons[0], variedAxes)].filter(Boolean).join(', '),
        cells: COLUMNS.map(([quantity]) => createChangeCell(findComparison(comparisons, quantity))),
      }
    }),
  })
}

/**
 * Renders which trials were compared, since a run may have interleaved ones and others, with their CPU limit if all share one.
 * @param {Comparison[]} comparisons all interleaved, or none of them
 * @returns {string[]} one phrase; [] without comparisons
 */
function renderComparedTrials(comparisons) {
  if (comparisons.length === 0) return []
  const limits = [...new Set(comparisons.map(({ cpuLimitCores }) => cpuLimitCores))]
  const limit = limits.length === 1 && limits[0] !== null ? `, ${limits[0]} CPU each` : ''
  return [`${comparisons[0].load.isInterleaved ? 'interleaved' : 'one proxy after the other'}${limit}`]
}

/**
 * Renders arms that were not compared, all for the same reason.
 * @param {RunComparison['refused']} refused at least one
 * @returns {string} a sentence
 */
function renderRefusedArms(refused) {
  const [{ isInterleaved, differing }] = refused
  const names = joinWords(refused.map(({ arm }) => arm))
  return `Not compared${isInterleaved ? ', interleaved' : ''}: ${names} (${differing.join('; ')}).`
}

/**
 * Creates the cell of a quantity: its ratio with the interval.
 * @param {Comparison | undefined} comparison undefined: the quantity was not compared
 * @returns {Cell | null} null if it was not compared, is invalid, or has no median
 */
function createChangeCell(comparison) {
  if (comparison === undefined || comparison.ratio.median === null || comparison.verdict === 'invalid') return null
  const { median, low, high } = comparison.ratio
  const interval = renderInterval({ low, high }, end => end.toFixed(2), ' (no interval yet)')
  return { text: `${median.toFixed(2)}${interval}`, value: median, low, high }
}

/**
 * Renders all that is known of a comparison: both runs, warnings, arms that were not compared, the verdicts over all sidecars, the
 * A/A controls and the thresholds.
 * @param {RunComparison} result
 * @param {{ old: NamedRun, new: NamedRun }} runs
 * @returns {string} lines, with an empty line between the parts
 */
export function renderComparisonDetails({ comparisons, controls, refused, warnings, thresholds }, runs) {
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

/** Creates a section of sentences, named by its id. @type {(id: string, lines: string[]) => Section} */
const createSentenceSection = (id, lines) => ({ id, name: capitalise(id), blocks: [{ type: 'sentences', lines }] })

/** Renders the folder of a run, its experiment, start and kit. @param {NamedRun} run @returns {string} */
function renderRunSource({ folder, manifest: { run, kit } }) {
  const version = [kit.version, kit.git].filter(Boolean).join(' ')
  return `${folder} (experiment ${run.experiment}, started ${run.startedAt}, kit ${version})`
}

/**
 * Creates a section of verdicts for each arm. Its name is rendered only if there are several.
 * @param {Comparison[]} comparisons over all sidecars
 * @returns {Section[]}
 */
function createArmSections(comparisons) {
  const arms = groupByArm(comparisons)
  const variedAxes = listVariedAxes(comparisons)
  return arms.map(armComparisons => {
    const [first] = armComparisons
    const primary = armComparisons.filter(({ quantity }) => quantity === PRIMARY.name).map(renderComparisonVerdict)
    const secondary = armComparisons.filter(({ quantity }) => quantity !== PRIMARY.name).map(renderComparisonVerdict)
    return {
      id: 'verdicts',
      name: [`${first.a} and ${first.b}`, renderAxes(first, variedAxes)].filter(Boolean).join(', '),
      isNamed: arms.length > 1,
      blocks: createVerdictGroupBlocks({ primary, secondary }),
    }
  })
}

/**
 * Renders by how much the CPU per request of the applications changed without sidecars, or that this is not known, with the reasons.
 * @param {Comparison} control of an arm
 * @param {Comparison[]} controls all of them, for the axes in which they differ
 * @returns {string} a sentence without its full stop
 */
function renderControl(control, controls) {
  const { ratio, reasons } = control
  const conditions = renderAxes(control, listVariedAxes(controls))
  const start = `Without sidecars${conditions ? ` (${conditions})` : ''}`
  const notes = renderReasons(reasons)
  if (ratio.median === null) return `${start} it is not known what the applications' CPU per request did${notes}`
  const gap = `${renderPercent(Math.abs(ratio.median - 1), 1)} ${ratio.median < 1 ? 'less' : 'more'}`
  return `${start} the applications used ${gap} CPU per request in new${notes}`
}

/**
 * Renders whether an arm met a threshold, that its quantity was excluded, or that no arm tested it.
 * @param {HeldThreshold} threshold arm: null if no arm tested it
 * @returns {string} a sentence without its full stop
 */
function renderHeldThreshold({ arm, ...threshold }) {
  if (arm !== null) return renderThreshold({ ...threshold, arm })
  return `Threshold ${threshold.expression}: not tested: no arm that has its quantity was compared`
}
