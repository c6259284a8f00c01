import { uniqueBy } from '../../lib/group-by.js'
import { wrapText } from '../../lib/text-table.js'
import { COLUMNS_MOST, clipText, cutLines } from './clip.js'
import { renderPicture, renderPictures } from './text-picture.js'

/** Renders an answer for the terminal, as one screen: at most LINES_MOST lines of COLUMNS_MOST columns. Pure. */
/**
 * @import { Answer } from './answer.js'
 * @import { Picture } from '../../answer/picture.js'
 */

export const LINES_MOST = 16
const WARNINGS_MOST = 3
const VERDICT_LINES_MOST = 4
const WHY_LINES_MOST = 2
const BASIS_LINES_LEAST = 1
const ROWS_LEAST = 3

/**
 * Parts that a screen leaves out so that each row of its pictures has a line. Those that repeat or explain the picture go first.
 * @typedef {object} Layout
 * @property {boolean} hasNotes sentences that explain the picture
 * @property {boolean} isParagraph a verdict and its basis are one paragraph; of several verdicts, each begins a line
 * @property {number} gapsMost empty lines: the first is that before the verdicts, then below the title, then before the end
 * @property {number} titleLinesMost an ellipsis stands for the rest; the machine goes first, as the last condition
 * @property {boolean} [hasReasons] false: what was not measured stands without its reason; true by default
 */
/** @type {Layout[]} */
const LAYOUTS = [
  { hasNotes: true, isParagraph: false, gapsMost: 3, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: false, gapsMost: 3, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: true, gapsMost: 3, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: true, gapsMost: 2, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: true, gapsMost: 1, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: true, gapsMost: 1, titleLinesMost: 1 },
  { hasNotes: false, isParagraph: true, gapsMost: 1, titleLinesMost: 1, hasReasons: false },
  { hasNotes: false, isParagraph: true, gapsMost: 0, titleLinesMost: 1, hasReasons: false },
]
/** If no layout has room for all rows, empty lines stay: a screen without them is hard to read. */
const LAYOUT_OF_MANY_ROWS = LAYOUTS[2]

/**
 * Renders the answer by the first layout that cuts neither a row nor the basis, else by that for many rows, which may cut both.
 * Verdicts, warnings and commands are cut to the lines left in any layout.
 * @param {Answer} answer
 * @param {{ more?: string[] }} [options] more: last lines, such as the path of the report
 * @returns {string} at most LINES_MOST lines of at most COLUMNS_MOST columns, unless a word is longer than a line, or `more` leaves too
 *   few lines
 */
export function renderAnswerText(answer, { more = [] } = {}) {
  return chooseScreen(answer, more).lines.join('\n')
}

/**
 * Renders every row of the pictures of an answer, if its screen leaves rows out.
 * @param {Answer} answer
 * @param {{ more: string[] }} options more: the last lines of that screen
 * @returns {string[][]} the lines of each picture; [] if the screen has all rows
 */
export function renderCutPictures(answer, { more }) {
  return chooseScreen(answer, more).hasAllRows ? [] : answer.pictures.map(picture => renderPicture(picture))
}

/**
 * Composes the screen by the first layout that cuts no row and no sentence on how sure the verdicts are, else by that for many rows.
 * @param {Answer} answer
 * @param {string[]} more last lines
 * @returns {Screen}
 */
function chooseScreen(answer, more) {
  const screens = LAYOUTS.map(layout => composeScreen(answer, more, layout))
  return screens.find(({ isWhole }) => isWhole) ?? screens[LAYOUTS.indexOf(LAYOUT_OF_MANY_ROWS)]
}

/**
 * The lines of an answer by one layout.
 * @typedef {object} Screen
 * @property {string[]} lines
 * @property {boolean} hasAllRows no row of the pictures is left out
 * @property {boolean} isWhole all rows are there, and all sentences on how sure the numbers are
 */

/**
 * Composes the lines of one layout.
 * @param {Answer} answer
 * @param {string[]} more last lines
 * @param {Layout} layout
 * @returns {Screen}
 */
function composeScreen(answer, more, { hasNotes, gapsMost, titleLinesMost, hasReasons = true, ...layout }) {
  const isParagraph = layout.isParagraph && answer.verdicts.length === 1
  const title = cutLines(joinConditions(answer.conditions), titleLinesMost)
  const sentences = [...answer.basis, ...(hasNotes ? (answer.notes ?? []) : [])]
  const paragraph = isParagraph ? [...answer.verdicts, ...sentences] : sentences
  const basis = wrapText(paragraph.join(' '), '  ').filter(line => line.trim())
  const notMeasured = hasReasons ? answer.notMeasured : answer.notMeasured.map(entry => ({ ...entry, why: '' }))
  const { head, commands } = renderNotMeasuredLines(notMeasured)
  const end = more.map(line => clipText(line))
  const pictureLines = answer.pictures.flatMap(picture => renderPicture(picture)).length
  const hasGap = { sentences: gapsMost >= 1, picture: gapsMost >= 2, end: gapsMost >= 3 }
  const gaps = [hasGap.sentences, hasGap.picture && pictureLines > 0, hasGap.end && head.length + end.length > 0]
  const fixedLines = title.length + head.length + end.length + gaps.filter(Boolean).length
  const parts = allocateLines(LINES_MOST - fixedLines, {
    isParagraph,
    pictures: answer.pictures,
    verdicts: answer.verdicts.flatMap(line => wrapText(line, '  ')),
    basis,
    warnings: answer.warnings.map(line => clipText(`  ! ${line}`)),
    commands,
  })
  const hasAllRows = parts.pictures.length === pictureLines
  return {
    lines: [
      ...title,
      ...separatePart(parts.pictures, hasGap.picture),
      ...separatePart([...parts.verdicts, ...parts.basis, ...parts.warnings], hasGap.sentences),
      ...separatePart([...head, ...parts.commands, ...end], hasGap.end),
    ],
    hasAllRows,
    isWhole: hasAllRows && parts.basis.length === basis.length,
  }
}

/**
 * The parts of a screen that share the lines beside its title, gaps and end.
 * @typedef {object} Parts
 * @property {boolean} isParagraph the basis begins with the verdicts
 * @property {Picture[]} pictures
 * @property {string[]} verdicts lines, as are the other parts
 * @property {string[]} basis
 * @property {string[]} warnings
 * @property {string[]} commands
 */

/**
 * Allocates the lines beside title, gaps and end to the other parts. One command and one warning have a line first. The first rows
 * of the picture and of the basis follow, then the verdicts, then all else of the basis and of the pictures. Further warnings and
 * commands come last.
 * @param {number} linesMost for all parts together
 * @param {Parts} parts
 * @returns {Record<'pictures' | 'verdicts' | 'basis' | 'warnings' | 'commands', string[]>} the lines of each part
 *   that have room; verdicts: [] with `isParagraph`
 */
function allocateLines(linesMost, { isParagraph, pictures, verdicts, basis, warnings, commands }) {
  const availableLines = linesMost - Math.min(1, commands.length) - Math.min(1, warnings.length)
  // The picture is the answer: its first rows have lines before the last verdicts and before the basis.
  const [firstPicture] = pictures
  const pictureLeast = firstPicture
    ? renderPicture(firstPicture, Math.min(ROWS_LEAST, firstPicture.rows.length)).length
    : 0
  const verdictsLeast = isParagraph ? Math.min(VERDICT_LINES_MOST, verdicts.length) : 0
  const basisLeast = Math.min(verdictsLeast + BASIS_LINES_LEAST, basis.length)
  const verdictsMost = Math.max(1, availableLines - pictureLeast - basisLeast)
  const verdictLines = cutLines(isParagraph ? [] : verdicts, Math.min(VERDICT_LINES_MOST, verdictsMost))
  const remainingLines = availableLines - verdictLines.length
  const basisLines = cutLines(basis, Math.max(basisLeast, remainingLines - pictureLeast))
  const pictureLines = renderPictures(pictures, remainingLines - basisLines.length)
  const spareLines = remainingLines - basisLines.length - pictureLines.length
  const warningLines = warnings.slice(0, Math.min(WARNINGS_MOST, 1 + Math.max(0, spareLines)))
  const spareForCommands = spareLines - Math.max(0, warningLines.length - 1)
  return {
    pictures: pictureLines,
    verdicts: verdictLines,
    basis: basisLines,
    warnings: warningLines,
    commands: commands.slice(0, 1 + Math.max(0, spareForCommands)),
  }
}

/**
 * Puts an empty line before a part that has lines.
 * @param {string[]} lines
 * @param {boolean} hasGap false: the layout has no empty line there
 * @returns {string[]} the lines; [] stays []
 */
const separatePart = (lines, hasGap) => (hasGap && lines.length > 0 ? ['', ...lines] : lines)

/**
 * Joins the conditions to lines of at most COLUMNS_MOST columns. All but the first are indented.
 * @param {string[]} conditions
 * @returns {string[]} lines
 */
function joinConditions(conditions) {
  /** @type {string[]} */
  const lines = []
  for (const part of conditions) {
    const last = lines.at(-1)
    if (last === undefined) lines.push(clipText(part))
    else if (`${last} · ${part}`.length <= COLUMNS_MOST) lines[lines.length - 1] = `${last} · ${part}`
    else lines.push(clipText(`  ${part}`))
  }
  return lines
}

/**
 * Renders what was not measured, and the first command that measures each: the others look alike on a screen, and the report
 * has all.
 * @param {Answer['notMeasured']} notMeasured
 * @returns {{ head: string[], commands: string[] }} head: at most WHY_LINES_MOST lines; commands: a line for each, once; [] if the
 *   head has the only one, or there is none; both [] if everything was measured
 */
function renderNotMeasuredLines(notMeasured) {
  if (notMeasured.length === 0) return { head: [], commands: [] }
  const onlyLine = notMeasured.length === 1 ? renderOnlyNotMeasured(notMeasured[0]) : null
  if (onlyLine !== null) return { head: [onlyLine], commands: [] }
  const subjects = notMeasured.map(({ what, why }) => (why ? `${what} (${why})` : what))
  const firstCommands = notMeasured.flatMap(({ commands }) => commands.slice(0, 1))
  const commands = uniqueBy(firstCommands, ({ command }) => command)
  const width = Math.max(0, ...commands.map(({ command }) => command.length))
  return {
    head: cutLines(wrapText(`Not measured: ${subjects.join('; ')}.`), WHY_LINES_MOST),
    commands: commands.map(({ command, gives }) => {
      const line = `  ${command.padEnd(width)}   # ${gives}`
      return line.length <= COLUMNS_MOST ? line : clipText(`  ${command}`)
    }),
  }
}

/**
 * Renders the only thing that was not measured, with its command.
 * @param {Answer['notMeasured'][number]} notMeasured
 * @returns {string | null} one line; null if it has a reason, not just one command, or no room in a line
 */
function renderOnlyNotMeasured({ what, why, commands }) {
  if (why || commands.length !== 1) return null
  const line = `Not measured: ${what}: ${commands[0].command}`
  return line.length <= COLUMNS_MOST ? line : null
}
