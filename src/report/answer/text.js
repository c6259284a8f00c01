import { listSpans } from '../../answer/picture.js'
import { uniqueBy } from '../../lib/group-by.js'
import { wrapText } from '../../lib/text-table.js'

/** Renders an answer for the terminal: at most 16 lines of 100 columns. Pure. */
/**
 * @import { Answer } from './answer.js'
 * @import { Picture } from '../../answer/picture.js'
 */

export const LINES_MOST = 16
export const COLUMNS_MOST = 100
const BAR_WIDTH = 20
const WARNINGS_MOST = 3
const VERDICT_LINES_MOST = 4
const WHY_LINES_MOST = 2
const BASIS_LINES_LEAST = 1
const ROWS_LEAST = 3
const GAP = '   '
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

/**
 * Parts that a screen leaves out so that each row of its pictures has a line. Those that repeat or explain the picture go first.
 * @typedef {object} Layout
 * @property {boolean} hasNotes sentences that explain the picture
 * @property {boolean} isParagraph a verdict and what it rests on are one paragraph; of several, each begins a line
 * @property {number} gapsMost empty lines: the first is that before the verdicts, then below the title, then before the end
 * @property {number} titleLinesMost an ellipsis stands for the rest; the machine goes first, as the last condition
 */
/** @type {Layout[]} */
const LAYOUTS = [
  { hasNotes: true, isParagraph: false, gapsMost: 3, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: false, gapsMost: 3, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: true, gapsMost: 3, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: true, gapsMost: 2, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: true, gapsMost: 1, titleLinesMost: 2 },
  { hasNotes: false, isParagraph: true, gapsMost: 1, titleLinesMost: 1 },
]
/** If no layout has room for all rows, empty lines stay: a screen without them is hard to read. */
const LAYOUT_OF_MANY_ROWS = LAYOUTS[2]

/**
 * Renders the answer by the first layout that has room for all rows, and for the sentences on how sure they are. If
 * there is none, rows, verdicts, warnings and commands are cut to LINES_MOST lines.
 * @param {Answer} answer
 * @param {{ more?: string[] }} [options] more: last lines, such as the path of the report
 * @returns {string} at most LINES_MOST lines of COLUMNS_MOST columns
 */
export function renderAnswerText(answer, { more = [] } = {}) {
  return chooseScreen(answer, more).lines.join('\n')
}

/**
 * Renders every row of the pictures of an answer, if its screen leaves rows out.
 * @param {Answer} answer
 * @param {{ more: string[] }} options more: the last lines of that screen
 * @returns {string[][]} the lines of each picture; []: the screen has all rows
 */
export function renderCutPictures(answer, { more }) {
  if (chooseScreen(answer, more).hasAllRows) return []
  return answer.pictures.map(picture => renderRows(picture, picture.rows.length))
}

/**
 * Chooses the first layout that has room for everything, else that for many rows.
 * @param {Answer} answer
 * @param {string[]} more last lines
 * @returns {ReturnType<typeof composeScreen>}
 */
function chooseScreen(answer, more) {
  const screens = LAYOUTS.map(layout => composeScreen(answer, more, layout))
  return screens.find(({ isWhole }) => isWhole) ?? screens[LAYOUTS.indexOf(LAYOUT_OF_MANY_ROWS)]
}

/**
 * Composes the lines of one layout.
 * @param {Answer} answer
 * @param {string[]} more last lines
 * @param {Layout} layout
 * @returns {{ lines: string[], hasAllRows: boolean, isWhole: boolean }} hasAllRows: no row of the pictures is left
 *   out; isWhole: nor is any sentence on how sure the numbers are
 */
function composeScreen(answer, more, { hasNotes, gapsMost, titleLinesMost, ...layout }) {
  const isParagraph = layout.isParagraph && answer.verdicts.length === 1
  const title = cutLines(joinConditions(answer.conditions), titleLinesMost)
  const sentences = [...answer.basis, ...(hasNotes ? (answer.notes ?? []) : [])]
  const paragraph = isParagraph ? [...answer.verdicts, ...sentences] : sentences
  const basisLines = wrapText(paragraph.join(' '), '  ').filter(line => line.trim())
  const { head, commands } = renderNotMeasuredLines(answer)
  const ends = more.map(line => clipLine(line))
  const pictureLines = answer.pictures.reduce((sum, picture) => sum + countLines(picture), 0)
  const isOpen = { sentences: gapsMost >= 1, picture: gapsMost >= 2, end: gapsMost >= 3 }
  const gaps = [isOpen.sentences, isOpen.picture && pictureLines > 0, isOpen.end && head.length + ends.length > 0]
  const screen = allocateLines(LINES_MOST - title.length - head.length - ends.length - gaps.filter(Boolean).length, {
    isParagraph,
    pictures: answer.pictures,
    verdicts: answer.verdicts.flatMap(line => wrapText(line, '  ')),
    basis: basisLines,
    warnings: answer.warnings.map(line => clipLine(`  ! ${line}`)),
    commands,
  })
  const hasAllRows = screen.pictures.length === pictureLines
  return {
    lines: [
      ...title,
      ...separatePart(screen.pictures, isOpen.picture),
      ...separatePart([...screen.verdicts, ...screen.basis, ...screen.warnings], isOpen.sentences),
      ...separatePart([...head, ...screen.commands, ...ends], isOpen.end),
    ],
    hasAllRows,
    isWhole: hasAllRows && screen.basis.length === basisLines.length,
  }
}

/**
 * Allocates the lines that title, gaps and end leave to the other parts. First one command and one warning have a line, then the
 * first rows of the picture and of the basis, then the verdicts, the rest of the basis and of the pictures, and last the further
 * warnings and commands.
 * @param {number} linesMost for all parts together
 * @param {{ isParagraph: boolean, pictures: Picture[], verdicts: string[], basis: string[], warnings: string[], commands: string[] }} parts
 *   isParagraph: the basis begins with the verdicts
 * @returns {Record<'pictures' | 'verdicts' | 'basis' | 'warnings' | 'commands', string[]>} the lines of each part
 *   that have room; verdicts: [] with `isParagraph`
 */
function allocateLines(linesMost, { isParagraph, pictures, verdicts, basis, warnings, commands }) {
  const availableLines = linesMost - Math.min(1, commands.length) - Math.min(1, warnings.length)
  // The picture is the answer: its first rows have lines before the last verdicts and before the basis.
  const [first] = pictures
  const pictureLeast = first ? renderRows(first, Math.min(ROWS_LEAST, first.rows.length)).length : 0
  const verdictsLeast = isParagraph ? Math.min(VERDICT_LINES_MOST, verdicts.length) : 0
  const basisLeast = Math.min(verdictsLeast + BASIS_LINES_LEAST, basis.length)
  const verdictRoom = Math.max(1, availableLines - pictureLeast - basisLeast)
  const verdictLines = cutLines(isParagraph ? [] : verdicts, Math.min(VERDICT_LINES_MOST, verdictRoom))
  const remainingLines = availableLines - verdictLines.length
  const basisLines = cutLines(basis, Math.max(basisLeast, remainingLines - pictureLeast))
  const pictureLines = drawPictures(pictures, remainingLines - basisLines.length)
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
 * @param {boolean} isOpen the layout has this gap
 * @returns {string[]} the lines; [] stays []
 */
const separatePart = (lines, isOpen) => (isOpen && lines.length > 0 ? ['', ...lines] : lines)

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
    if (last !== undefined && last.length + 3 + part.length <= COLUMNS_MOST)
      lines[lines.length - 1] = `${last} · ${part}`
    else lines.push(clipLine(last === undefined ? part : `  ${part}`))
  }
  return lines
}

/**
 * Renders what was not measured, and the commands that measure it.
 * @param {Answer} answer
 * @returns {{ head: string[], commands: string[] }} head: at most WHY_LINES_MOST lines; commands: a line for each
 */
function renderNotMeasuredLines({ notMeasured }) {
  if (notMeasured.length === 0) return { head: [], commands: [] }
  const [{ what: subject, why: reason, commands: onlyCommands }] = notMeasured
  if (notMeasured.length === 1 && !reason && onlyCommands.length === 1) {
    const line = `Not measured: ${subject}: ${onlyCommands[0].command}`
    if (line.length <= COLUMNS_MOST) return { head: [line], commands: [] }
  }
  const whats = notMeasured.map(({ what, why }) => (why ? `${what} (${why})` : what))
  // Several commands of one question look alike on a screen: the first answers it best, and the report has all.
  const firstCommands = notMeasured.flatMap(n => n.commands.slice(0, 1))
  const commands = uniqueBy(firstCommands, ({ command }) => command)
  const width = Math.max(0, ...commands.map(({ command }) => command.length))
  return {
    head: cutLines(wrapText(`Not measured: ${whats.join('; ')}.`), WHY_LINES_MOST),
    commands: commands.map(({ command, gives }) => {
      const line = `  ${command.padEnd(width)}   # ${gives}`
      return line.length <= COLUMNS_MOST ? line : clipLine(`  ${command}`)
    }),
  }
}

/**
 * Counts the lines of a whole picture.
 * @param {Picture} picture
 * @returns {number}
 */
const countLines = picture => renderRows(picture, picture.rows.length).length

/**
 * Draws the pictures that fit. The last one may end with the number of rows that are left out.
 * @param {Picture[]} pictures
 * @param {number} linesMost number of lines
 * @returns {string[]} lines
 */
function drawPictures(pictures, linesMost) {
  /** @type {string[]} */
  const lines = []
  for (const picture of pictures) {
    const room = linesMost - lines.length
    const heads = renderRows(picture, 0).length
    // Two rows at least, or the line that says how many there are more.
    if (room < heads + Math.min(2, picture.rows.length)) break
    const rows = Math.min(picture.rows.length, room - heads)
    if (rows === picture.rows.length) lines.push(...renderRows(picture, rows))
    else lines.push(...renderRows(picture, rows - 1), `  and ${picture.rows.length - rows + 1} more rows: --details`)
  }
  return lines
}

/**
 * Renders the headings and the first rows of a picture. Columns are as wide as all rows need.
 * @param {Picture} picture
 * @param {number} count of the rows
 * @returns {string[]} lines
 */
function renderRows(picture, count) {
  const fitted = fitColumns(picture)
  const { columns, rows } = fitted
  const widths = computeWidths(fitted)
  const texts = rows.map(row => row.cells.map(renderCellText))
  const textWidths = columns.map((_, i) => Math.max(...texts.map(row => row[i].length)))
  const longest = columns.map((_, i) => Math.max(...rows.map(({ cells }) => cells[i]?.value ?? 0)))
  const labelWidth = Math.max(...rows.map(({ label }) => label.length))
  const renderTextRow = (/** @type {string} */ label, /** @type {string[]} */ parts) =>
    `  ${label.padEnd(labelWidth)}  ${parts.join(GAP)}`.trimEnd()
  const place = (/** @type {string} */ text, /** @type {number} */ i) =>
    columns[i].isBar || columns[i].align === 'left' ? text.padEnd(widths[i]) : text.padStart(widths[i])
  const spans = listSpans(columns)
  return [
    ...(spans.some(({ group }) => group !== '')
      ? [
          renderTextRow(
            '',
            spans.map(({ group, from, to }) => group.padStart(computeSpanWidth(widths, from, to))),
          ),
        ]
      : []),
    renderTextRow(
      '',
      columns.map(({ heading }, i) => place(heading, i)),
    ),
    ...rows.slice(0, count).map(({ label, cells }, r) =>
      renderTextRow(
        label,
        columns.map(({ isBar }, i) => {
          // A single bar has no other to be compared with.
          if (!isBar || rows.length < 2) return place(texts[r][i], i)
          const value = cells[i]?.value ?? null
          return place(
            `${texts[r][i].padStart(textWidths[i])}  ${value === null ? '' : drawBar(value / longest[i])}`,
            i,
          )
        }),
      ),
    ),
  ]
}

/**
 * Renders a cell; `-`: null.
 * @param {Picture['rows'][0]['cells'][0]} cell
 * @returns {string}
 */
const renderCellText = cell => cell?.text ?? '-'

/**
 * Computes the width of neighbouring columns, with the gaps between them.
 * @param {number[]} widths
 * @param {number} from index of the first column
 * @param {number} to index after the last column
 * @returns {number} characters
 */
function computeSpanWidth(widths, from, to) {
  return widths.slice(from, to).reduce((sum, width) => sum + width, 0) + GAP.length * (to - from - 1)
}

/**
 * Computes the width of each column, which has room for its cells and headings.
 * @param {Picture} picture
 * @returns {number[]} characters
 */
function computeWidths({ columns, rows }) {
  const widths = columns.map(({ heading, isBar }, i) => {
    const texts = Math.max(...rows.map(({ cells }) => renderCellText(cells[i]).length))
    return Math.max(heading.length, texts + (isBar && rows.length > 1 ? 2 + BAR_WIDTH : 0))
  })
  for (const { group, from, to } of listSpans(columns))
    widths[from] += Math.max(0, group.length - computeSpanWidth(widths, from, to))
  return widths
}

/**
 * Removes the last columns, and then cuts labels, if a line is too long. Indent and gap take 4 characters.
 * @param {Picture} picture
 * @returns {Picture} with at least one column
 */
function fitColumns(picture) {
  const keep = (/** @type {number} */ count) => ({
    ...picture,
    columns: picture.columns.slice(0, count),
    rows: picture.rows.map(row => ({ ...row, cells: row.cells.slice(0, count) })),
  })
  const labels = Math.max(...picture.rows.map(({ label }) => label.length))
  for (let count = picture.columns.length; count > 0; count--) {
    const narrowed = keep(count)
    const widths = computeWidths(narrowed)
    if (4 + labels + computeSpanWidth(widths, 0, count) <= COLUMNS_MOST) return narrowed
  }
  const first = keep(1)
  const room = Math.max(8, COLUMNS_MOST - 4 - computeWidths(first)[0])
  return { ...first, rows: first.rows.map(row => ({ ...row, label: clipLine(row.label, room) })) }
}

/** Draws a bar in eighths of a character, at least one. @param {number} share of the longest bar, 0 to 1 @returns {string} */
function drawBar(share) {
  const eighths = Math.max(1, Math.round(8 * BAR_WIDTH * share))
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}

/**
 * Cuts a line to a number of columns, with an ellipsis.
 * @param {string} line
 * @param {number} [most] columns
 */
const clipLine = (line, most = COLUMNS_MOST) => (line.length <= most ? line : `${line.slice(0, most - 1).trimEnd()}…`)

/**
 * Keeps the first lines. If others are cut, the last one ends in an ellipsis (98 columns leave room for it).
 * @param {string[]} lines
 * @param {number} most number of lines
 * @returns {string[]}
 */
function cutLines(lines, most) {
  return lines.length <= most ? lines : [...lines.slice(0, most - 1), clipLine(`${lines[most - 1].slice(0, 98)} …`)]
}
