/**
 * The answer of a run as data, which every format renders: pictures, sentences, warnings, and what was not measured. Pure.
 */

/**
 * @typedef {object} Cell
 * @property {string} text with its unit, unless the heading has it
 * @property {number | null} [value] to draw a bar of; absent or null: none is drawn
 * @property {number | null} [low] with high: the 95 % interval, in the unit of the value
 * @property {number | null} [high]
 */

/**
 * @typedef {object} Column
 * @property {string} heading
 * @property {string} [group] a heading over columns that stand beside each other
 * @property {true} [isBar] the cells are drawn as bars
 * @property {'left'} [align] absent: right
 */

/**
 * @typedef {object} PictureRow
 * @property {string} label
 * @property {true} [isBaseline] it has no sidecars
 * @property {(Cell | null)[]} cells null: not measured
 */

/** @typedef {{ columns: Column[], rows: PictureRow[], isOfProxies?: boolean }} Picture isOfProxies: each row is a proxy, and its label the name */

/** @typedef {{ command: string, gives: string }} Command a command line, and what it measures */
/** @typedef {{ what: string, why: string, commands: Command[] }} NotMeasured why: a reason, or empty; commands: empty if none measures it */

/**
 * The answer of one kind of trials.
 * @typedef {object} KindAnswer
 * @property {Picture[]} pictures
 * @property {string[]} verdicts whole sentences, the primary quantity first
 * @property {string[]} [basis] sentences about how sure they are, such as the noise floor
 * @property {string[]} [notes] sentences that explain the picture; a screen without room for all rows leaves them out
 * @property {string[]} [warnings] whole sentences, the worst first
 * @property {NotMeasured[]} [notMeasured]
 */

/**
 * Joins the pictures whose rows are proxies into one, by the labels of the rows, with baselines last; a cell is null if its
 * picture lacks the proxy. The other pictures follow as they are.
 * @param {Picture[]} pictures
 */
export function joinPictures(pictures) {
  const [joined, others] = [true, false].map(is => pictures.filter(picture => (picture.isOfProxies ?? false) === is))
  if (joined.length === 0) return others
  const rows = new Map(joined.flatMap(picture => picture.rows.map(row => [row.label, row])))
  const sorted = [...rows.values()].toSorted((a, b) => Number(a.isBaseline ?? false) - Number(b.isBaseline ?? false))
  const whole = {
    isOfProxies: true,
    columns: joined.flatMap(({ columns }) => columns),
    rows: sorted.map(row => ({
      ...row,
      cells: joined.flatMap(({ columns, rows: joinedRows }) => {
        return joinedRows.find(({ label }) => label === row.label)?.cells ?? columns.map(() => null)
      }),
    })),
  }
  return [whole, ...others]
}

/**
 * Leaves out columns and rows whose cells are all null.
 * @param {Picture} picture
 * @returns {Picture}
 */
export function dropEmptyCells({ columns, rows, ...picture }) {
  const isFilled = (/** @type {unknown} */ _, /** @type {number} */ i) => rows.some(({ cells }) => cells[i] !== null)
  return {
    ...picture,
    columns: columns.filter(isFilled),
    rows: rows
      .filter(({ cells }) => cells.some(cell => cell !== null))
      .map(row => ({ ...row, cells: row.cells.filter(isFilled) })),
  }
}

/**
 * Lists the columns that share a group's heading, or have none: from the first to before `to`.
 * @param {Picture['columns']} columns
 * @returns {{ group: string, from: number, to: number }[]}
 */
export function listSpans(columns) {
  const groups = columns.map(({ group = '' }) => group)
  const starts = groups.flatMap((group, i) => (i > 0 && group !== '' && group === groups[i - 1] ? [] : [i]))
  return starts.map((from, n) => ({ group: groups[from], from, to: starts[n + 1] ?? groups.length }))
}
