import { hasAny, tellFindings } from '../kinds/sections.js'
import { renderCommand } from '../lib/render-command.js'
import { joinParts, keepColumns, renderTextTable, wrapText } from '../lib/text-table.js'
import { PARITY_NAMES } from '../parity/verdict/checks.js'
import { findDiffering, listDisparities, tabulateParity, tellOwnScripts, tellOwnWork } from '../parity/verdict/rows.js'
import { createAnswer } from './answer/answer.js'
import { nameLinks, renderPivots, tabulateArms } from './arms-table.js'
import { renderCpuLines, renderPlateaus, renderSlopes } from './fits.js'
import { describeNotMeasured, renderFired } from './missing.js'
import { renderNotes, renderThresholds } from './notes.js'
import { CONTRASTS, SECONDARY, tellContrasts, tellVerdicts } from './verdicts.js'

/** Every quantity, check and definition of a run, for `--details` on a terminal. Pure. @import { Summary } from '../model/types.ts' */

// Columns that only other formats have: here the table fits 100 columns.
const HIDDEN = ['p90', 'p95', 'CPU cores', 'throttled', 'anon']

/**
 * Renders the verdicts, the arms or an axis, what limits them, and where the rest is. @param {Summary} summary
 * @param {{ folder?: string | null, hasPage?: boolean, warnings?: string[], claims?: string[] }} [given] hasPage:
 *   report.html is in the folder; warnings: what of the run is missing; claims: lines on published claims
 */
export function renderDetailsText(summary, { folder = null, hasPage = true, warnings = [], claims = [] } = {}) {
  const { arms, machine, run, shows, notMeasured } = summary
  const missing = [...warnings, ...describeNotMeasured(notMeasured)].flatMap(line => wrapText(line))
  if (arms.length === 0) return joinParts([[`${run.experiment}: nothing was measured`, ...missing]])
  const [{ load, target }] = arms
  const lengths = [...new Set(arms.map(arm => arm.load.windowSeconds))]
  const onTarget = target === 'local' ? '' : `, on ${target}${machine.node ? ` (${machine.node})` : ''}`
  const where = machine.loadHost ? `, load from ${machine.loadHost.host}` : onTarget
  const windows = hasAny(summary, 'hasWindows') ? `, ${lengths.join(' and ')} s windows` : ''
  const title = `${run.experiment}, ${nameLinks(summary)}${windows}${where}`
  const hasRounds = hasAny(summary, 'hasRounds')
  const findings = tellFindings(summary)
  const isIdle = load.kind === 'idle'
  const [plateaus, ...besides] = renderPlateaus(summary)
  const notes = hasRounds ? [...renderNotes(summary), ...renderFired(summary), ...renderThresholds(summary)] : []
  return joinParts([
    [title, ...missing],
    renderAnswers(summary),
    listRest(`${CONTRASTS}:`, tellContrasts(summary)),
    ...(!hasRounds ? [findings] : shows.across || isIdle ? renderPivots(summary) : renderArms(summary)),
    renderCpuLines(summary),
    renderSlopes(summary),
    listRest(plateaus, besides),
    hasRounds ? findings : [],
    [...notes.flatMap(wrapHanging), ...renderParity(summary), ...claims.flatMap(wrapHanging)],
    [
      ...(!hasRounds || isIdle ? [] : listRest('Not measured:', renderNotMeasured(summary))),
      ...(folder === null ? [] : listRest('More:', listMore(folder, { hasPage, hasClaims: claims.length > 0 }))),
    ],
  ])
}

/** Renders the verdicts, the primary quantity first. @param {Summary} summary */
function renderAnswers(summary) {
  const groups = tellVerdicts(summary)
  return groups.flatMap(({ heading, primary, secondary, noise }) => [
    ...(groups.length > 1 ? ['', `${heading}:`] : []),
    ...primary.flatMap(wrapHanging),
    ...(secondary.length > 0 ? [`${SECONDARY}:`, ...secondary.flatMap(line => wrapText(line, '  ', '    '))] : []),
    ...(noise ? wrapHanging(noise) : []),
  ])
}

/** @param {Summary} summary */
function renderArms(summary) {
  const tables = tabulateArms(summary)
  return tables.map(table => [
    ...(tables.length > 1 ? [`${table.caption}:`] : []),
    ...renderTextTable(keepColumns(table, i => !HIDDEN.includes(table.columns[i][0]))),
  ])
}

/** Says that work was equal, or where it differs. @param {Pick<Summary, 'parity' | 'arms' | 'relaxes'>} summary */
export function renderParity({ parity, arms, relaxes }) {
  if (parity.length === 0) return []
  const { differing, wrong } = findDiffering({ parity, arms, relaxes })
  const alike = parity.filter(
    row => PARITY_NAMES.includes(row.name) && !differing.includes(row.name) && !row.isDeployed,
  )
  const shared = [...new Set(alike.flatMap(({ lacks = [] }) => lacks))]
  const findings = [...tellOwnWork({ parity }), ...tellOwnScripts({ parity })]
  if (differing.length === 0) {
    const between = findings.length > 0 ? ' between the other planes' : ''
    const lacking = shared.length > 0 ? `; all lack the same: ${shared.join('; ')}` : ''
    return [`Equal-work check: passed${between}${lacking}.`, ...findings.flatMap(wrapHanging)]
  }
  const rows = parity.filter(row => (wrong.length > 0 ? wrong : differing).includes(row.name))
  return [
    wrong.length > 0
      ? 'Equal-work check: NOT passed:'
      : 'Equal-work check: passed but for what the experiment sets aside:',
    ...renderTextTable(tabulateParity({ parity: rows })),
    ...listDisparities({ parity: rows }).flatMap(line => wrapText(line, '  ', '    ')),
  ]
}

/** @param {Summary} summary */
function renderNotMeasured(summary) {
  return createAnswer(summary).notMeasured.flatMap(({ what, commands }) =>
    commands.map(({ command, gives }) => `${what}: ${command} (${gives})`),
  )
}

/** @param {string} folder @param {{ hasPage: boolean, hasClaims: boolean }} options */
function listMore(folder, { hasPage, hasClaims }) {
  return [
    `${hasPage ? `${folder}/report.html` : renderCommand('report', `${folder} --format html`)}: charts, every trial, where the numbers are from`,
    ...(hasClaims ? [`${renderCommand('claims', folder)}: each published claim, theirs and ours`] : []),
    `${renderCommand('verify', folder)}: every number again, from the raw files`,
  ]
}

/** @param {string} heading @param {string[]} lines */
function listRest(heading, lines) {
  return lines.length === 0 ? [] : [heading, ...lines.flatMap(line => wrapText(line, '  ', '    '))]
}

/** @param {string} line */
const wrapHanging = line => wrapText(line, '', '  ')
