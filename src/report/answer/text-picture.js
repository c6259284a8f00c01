import { listSpans } from '../../answer/picture.js'
import { COLUMNS_MOST, clipText } from './clip.js'

/** Renders the pictures of an answer for the terminal, with bars of characters. Pure. */
/** @import { Cell, Picture } from '../../answer/picture.js' */

const BAR_WIDTH = 20
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const INDENT = '  '
const LABEL_GAP = '  '
const GAP = '   '
const LABEL_LEAST = 8
// A picture that is cut has at least two rows, or a row and the line that says how many there are more.
const CUT_ROWS_LEAST = 2

/**
 * Renders pictures until one does not fit. The last one may end with the number of rows that are left out.
 * @param {Picture[]} pictures
 * @param {number} linesMost for all together
 * @returns {string[]} lines; [] if not even the first picture fits
 */
export function renderPictures(pictures, linesMost) {
  /** @type {string[]} */
  const lines = []
  for (const picture of pictures) {
    const availableLines = linesMost - lines.length - renderPicture(picture, 0).length
    const rowCount = picture.rows.length
    if (availableLines < Math.min(CUT_ROWS_LEAST, rowCount)) break
    if (availableLines >= rowCount) lines.push(...renderPicture(picture))
    else {
      const shownRows = availableLines - 1
      lines.push(...renderPicture(picture, shownRows), `  and ${rowCount - shownRows} more rows: --details`)
    }
  }
  return lines
}

/**
 * Renders the headings and the first rows of a picture. Columns are as wide as all rows need; the last ones are left out if a line
 * would be longer than COLUMNS_MOST.
 * @param {Picture} picture with at least one row and one column
 * @param {number} [rowCount] by default all
 * @returns {string[]} lines: one of headings, one more above it if columns have groups, then one for each row
 */
export function renderPicture(picture, rowCount = picture.rows.length) {
  const fittedPicture = fitToWidth(picture)
  const { columns, rows } = fittedPicture
  const widths = computeWidths(fittedPicture)
  const labelWidth = Math.max(...rows.map(({ label }) => label.length))
  const renderLine = (/** @type {string} */ label, /** @type {string[]} */ parts) =>
    `${INDENT}${label.padEnd(labelWidth)}${LABEL_GAP}${parts.join(GAP)}`.trimEnd()
  const alignText = (/** @type {string} */ text, /** @type {number} */ column) => {
    const { isBar, align } = columns[column]
    return isBar || align === 'left' ? text.padEnd(widths[column]) : text.padStart(widths[column])
  }
  const spans = listSpans(columns)
  const groupTexts = spans.map(({ group, from, to }) => group.padStart(computeSpanWidth(widths, from, to)))
  const headings = columns.map(({ heading }) => heading)
  const columnTexts = columns.map(({ isBar }, i) => {
    const cells = rows.map(row => row.cells[i])
    return isBar ? renderBarColumn(cells) : cells.map(renderCell)
  })
  return [
    ...(spans.some(({ group }) => group !== '') ? [renderLine('', groupTexts)] : []),
    renderLine('', headings.map(alignText)),
    ...rows.slice(0, rowCount).map(({ label }, row) => {
      const texts = columnTexts.map(column => column[row])
      return renderLine(label, texts.map(alignText))
    }),
  ]
}

/** Renders a cell. @param {Cell | null} cell @returns {string} `-` if it was not measured */
const renderCell = cell => cell?.text ?? '-'

/**
 * Renders the cells of a column, each followed by a bar if it has a value. A single cell has no bar.
 * @param {(Cell | null)[]} cells
 * @returns {string[]}
 */
function renderBarColumn(cells) {
  const texts = cells.map(renderCell)
  // A single bar has no other to be compared with.
  if (cells.length < 2) return texts
  const width = Math.max(...texts.map(text => text.length))
  const largest = Math.max(...cells.map(cell => cell?.value ?? 0))
  return cells.map((cell, i) => {
    const value = cell?.value ?? null
    return `${texts[i].padStart(width)}  ${value === null ? '' : drawTextBar(largest === 0 ? 0 : value / largest)}`
  })
}

/** Draws a bar in eighths of a character, at least one. @param {number} share of the longest bar, 0 to 1 @returns {string} */
function drawTextBar(share) {
  const eighths = Math.max(1, Math.round(8 * BAR_WIDTH * share))
  return '█'.repeat(Math.floor(eighths / 8)) + EIGHTHS[eighths % 8]
}

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
 * Computes the width of each column, which has room for its cells, bars and headings.
 * @param {Picture} picture
 * @returns {number[]} characters
 */
function computeWidths({ columns, rows }) {
  const widths = columns.map(({ heading, isBar }, i) => {
    const textWidth = Math.max(...rows.map(({ cells }) => renderCell(cells[i]).length))
    return Math.max(heading.length, textWidth + (isBar && rows.length > 1 ? 2 + BAR_WIDTH : 0))
  })
  for (const { group, from, to } of listSpans(columns))
    widths[from] += Math.max(0, group.length - computeSpanWidth(widths, from, to))
  return widths
}

/**
 * Removes the last columns of a picture, and then cuts its labels, to LABEL_LEAST at least, if a line is longer than COLUMNS_MOST.
 * @param {Picture} picture with at least one column
 * @returns {Picture} with at least one column; a line is still longer if the first column alone is too wide
 */
function fitToWidth(picture) {
  const availableWidth = COLUMNS_MOST - INDENT.length - LABEL_GAP.length
  const labelWidth = Math.max(...picture.rows.map(({ label }) => label.length))
  for (let count = picture.columns.length; count > 0; count--) {
    const narrowPicture = keepFirstColumns(picture, count)
    if (labelWidth + computeSpanWidth(computeWidths(narrowPicture), 0, count) <= availableWidth) return narrowPicture
  }
  const narrowest = keepFirstColumns(picture, 1)
  const labelMost = Math.max(LABEL_LEAST, availableWidth - computeWidths(narrowest)[0])
  return { ...narrowest, rows: narrowest.rows.map(row => ({ ...row, label: clipText(row.label, labelMost) })) }
}

/** Keeps the first columns of a picture. @param {Picture} picture @param {number} count @returns {Picture} */
function keepFirstColumns(picture, count) {
  return {
    ...picture,
    columns: picture.columns.slice(0, count),
    rows: picture.rows.map(row => ({ ...row, cells: row.cells.slice(0, count) })),
  }
}
