/**
 * The answer of a run as data, which every format renders: pictures, sentences, warnings, and what was not measured. Pure.
 */

/**
 * A value of a picture, for readers and to draw.
 * @typedef {object} Cell
 * @property {string} text with its unit, unless the heading has it
 * @property {number | null} [value] to draw a bar of; absent or null: none is drawn
 * @property {number | null} [low] with high: the 95 % interval, in the unit of the value; absent or null: there is none
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
 * @property {string} label the name of a proxy, a point of the axes, or what else the picture has rows of
 * @property {true} [isBaseline] it has no sidecars
 * @property {(Cell | null)[]} cells one for each column; null: not measured
 */

/**
 * A table whose columns may be drawn as bars.
 * @typedef {object} Picture
 * @property {Column[]} columns
 * @property {PictureRow[]} rows
 * @property {boolean} [isOfProxies] each row is a proxy, and its label the name
 */

/**
 * A command that measures what a run did not.
 * @typedef {object} Command
 * @property {string} command a command line
 * @property {string} gives the quantity that it measures
 */

/**
 * A gap in what a run measured.
 * @typedef {object} NotMeasured
 * @property {string} what quantities, joined by commas, or a proxy
 * @property {string} why a reason; empty: none is known
 * @property {Command[]} commands empty: none measures it
 */

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
 * Joins the pictures whose rows are proxies into one, by the labels of their rows, baselines last. The other pictures
 * follow unchanged.
 * @param {Picture[]} pictures
 * @returns {Picture[]} in the joined picture, a cell is null if its original picture lacks the proxy; []: there are no pictures
 */
export function joinPictures(pictures) {
  const joined = pictures.filter(({ isOfProxies }) => isOfProxies)
  const others = pictures.filter(({ isOfProxies }) => !isOfProxies)
  if (joined.length === 0) return others
  const rows = new Map(joined.flatMap(picture => picture.rows.map(row => [row.label, row])))
  const sorted = [...rows.values()].toSorted((a, b) => Number(a.isBaseline ?? false) - Number(b.isBaseline ?? false))
  const joinedPicture = {
    isOfProxies: true,
    columns: joined.flatMap(({ columns }) => columns),
    rows: sorted.map(row => ({
      ...row,
      cells: joined.flatMap(picture => {
        const sameRow = picture.rows.find(({ label }) => label === row.label)
        return sameRow?.cells ?? picture.columns.map(() => null)
      }),
    })),
  }
  return [joinedPicture, ...others]
}

/**
 * Removes the columns and rows whose cells are all null.
 * @param {Picture} picture
 * @returns {Picture} a new picture; without rows and columns, if no cell has a value
 */
export function dropEmptyRowsAndColumns({ columns, rows, ...picture }) {
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
 * Groups neighbouring columns that share a group's heading; a column without a group is a span of its own.
 * @param {Column[]} columns
 * @returns {{ group: string, from: number, to: number }[]} group: empty: none; from: index of the first column; to:
 *   index after the last; []: there are no columns
 */
export function listSpans(columns) {
  const groups = columns.map(({ group = '' }) => group)
  const isContinued = (/** @type {number} */ i) => i > 0 && groups[i] !== '' && groups[i] === groups[i - 1]
  const starts = [...groups.keys()].filter(i => !isContinued(i))
  return starts.map((from, n) => ({ group: groups[from], from, to: starts[n + 1] ?? groups.length }))
}
