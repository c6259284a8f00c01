import { createLogUpdate } from 'log-update'
import { escapeControls } from '../lib/printable.js'
import {
  renderArmAxes,
  renderCpuUse,
  renderMemoryUse,
  renderNumber,
  renderPartPlace,
  renderPartValues,
  renderRatioSoFar,
  renderThrottling,
  renderTimeLeft,
  renderTrialPlace,
  SIDECARS_SHOWN,
} from './words.js'

/**
 * Draws a run as a few lines of a terminal, again and again.
 * @import { ValueRow } from './repeats.js'
 * @import { RunSnapshot, RunState } from './state.js'
 */

// Assumed if the terminal does not say its width.
const DEFAULT_COLUMNS = 80
const CPU_BAR_COLUMNS = 16
// The longest bar, of the row with the highest cost.
const COST_BAR_COLUMNS = 20
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const ROWS_SHOWN = 6
const RATIOS_SHOWN = 5
// Characters that move the cursor, colour the terminal or reverse the line: names may be from files of other people.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Renders a line of progress, then the values so far or, until there is one, the sidecars of the trial. Lines are cut to the
 * columns, and have no control characters.
 * @param {RunSnapshot} snapshot
 * @param {number} columns of the terminal
 * @returns {string[]} []: nothing is known yet
 */
export function renderLiveLines(snapshot, columns) {
  const { experiment, progress, phase, secondsLeft, ending } = snapshot
  const status = ending?.outcome ?? (phase === 'parity' ? 'equal-work check' : phase)
  const lines = [
    [experiment, progress ?? renderTrialPlace(snapshot), status, renderTimeLeft(secondsLeft)]
      .filter(Boolean)
      .join(' · '),
    ...(renderParts(snapshot, columns) ?? renderSidecars(snapshot)),
  ]
  return lines.filter(line => line !== '').map(line => cutLine(removeControls(line), columns))
}

/**
 * Cuts a line to the columns of a terminal, with `…` at its end.
 * @param {string} line
 * @param {number} columns
 * @returns {string} the same line, if it fits
 */
function cutLine(line, columns) {
  // A character beyond the Basic Multilingual Plane is two code units of a string.
  const characters = [...line]
  return characters.length > columns ? `${characters.slice(0, columns - 1).join('')}…` : line
}

/**
 * Renders the first part as bars with its first RATIOS_SHOWN ratios, each later part as a line, and the failed requests of the
 * trial.
 * @param {RunSnapshot} snapshot
 * @param {number} columns
 * @returns {string[] | null} lines, some empty; null: there is no part yet, or the first one has no cost
 */
function renderParts({ parts, failed, ending }, columns) {
  const [first, ...laterParts] = parts
  if (!first?.rows.some(({ cost }) => cost !== null)) return null
  const { rows, ratios } = first
  const ratioLines = ratios.slice(0, RATIOS_SHOWN).map(ratio => {
    const advice = ratio === ratios[0] && ending === null ? '; Ctrl-C keeps it' : ''
    return `  ${renderRatioSoFar(ratio)}${ratio.isNarrower ? ', narrowing' : ''}${advice}`
  })
  const laterLines = laterParts.map(part => `  ${renderPartPlace(part)}: ${renderPartValues({ ...part, ratios: [] })}`)
  return [...renderCostBars(rows, columns), ...ratioLines, ...laterLines, failed ? `  ${failed} requests failed` : '']
}

/**
 * Renders a bar for each of the first ROWS_SHOWN rows with a cost. Two bars alone share a line if they fit.
 * @param {ValueRow[]} rows at least one has a cost
 * @param {number} columns
 * @returns {string[]} lines
 */
function renderCostBars(rows, columns) {
  const shownRows = rows.filter(({ cost }) => cost !== null).slice(0, ROWS_SHOWN)
  const largestCost = Math.max(...shownRows.map(({ cost }) => cost ?? 0))
  const labels = shownRows.map(({ label }) => removeControls(label))
  const texts = shownRows.map(({ text }) => removeControls(text))
  const [labelWidth, textWidth] = [labels, texts].map(cells => Math.max(...cells.map(cell => cell.length)))
  const bars = shownRows.map(({ cost }, i) => {
    const bar = renderCostBar(cost ?? 0, largestCost)
    return `  ${labels[i].padEnd(labelWidth)}  ${texts[i].padStart(textWidth)}  ${bar}`
  })
  const lines = bars.length === 2 && 2 * bars[0].length <= columns ? [bars.join('')] : bars
  return lines.map(line => line.trimEnd())
}

/**
 * Renders the bar of a cost, to an eighth of a column.
 * @param {number} cost
 * @param {number} largestCost that of the longest bar; 0: all bars are empty
 * @returns {string} padded to COST_BAR_COLUMNS, the longest bar
 */
function renderCostBar(cost, largestCost) {
  const eighths = Math.round((8 * COST_BAR_COLUMNS * cost) / (largestCost || 1))
  return `${'█'.repeat(Math.floor(eighths / 8))}${EIGHTHS[eighths % 8]}`.padEnd(COST_BAR_COLUMNS)
}

/**
 * Renders the arm, what the first SIDECARS_SHOWN sidecars use, the number of the others, and the rate and failures of the trial.
 * @param {RunSnapshot} snapshot
 * @returns {string[]} lines, some empty
 */
function renderSidecars({ arm, sidecars, ratePerSecond, failed }) {
  const shownSidecars = sidecars.slice(0, SIDECARS_SHOWN)
  const width = Math.max(0, ...shownSidecars.map(({ service }) => removeControls(service).length))
  return [
    arm === null ? '' : joinFields([arm.name, renderArmAxes(arm)]),
    ...shownSidecars.map(sidecar =>
      joinFields([removeControls(sidecar.service).padEnd(width), ...renderSidecarUse(sidecar)]),
    ),
    sidecars.length > shownSidecars.length ? `and ${sidecars.length - shownSidecars.length} more` : '',
    failed === null ? '' : `${renderNumber(ratePerSecond)} requests/s, ${failed} failed`,
  ]
}

/**
 * Shows a run on a terminal, in place, until `close`. A timer draws, and only after an event, because drawing delays the sampling
 * in this process. The timer does not keep the process alive.
 * @param {{ stream: NodeJS.WritableStream & { columns?: number }, state: Pick<RunState, 'snapshot' | 'version'>,
 *   intervalMs?: number }} options stream: a terminal; intervalMs: between two drawings, 500 by default
 * @returns say: prints a line above the view; close: removes the view
 */
export function createTerminalView({ stream, state, intervalMs = 500 }) {
  // To hide the cursor, log-update would listen to signals and end the process on one, while the kit first tears the run down.
  const update = createLogUpdate(stream, { showCursor: true })
  let drawnVersion = 0
  let lines = /** @type {string[]} */ ([])
  let isOpen = true
  const draw = () => {
    if (state.version() === drawnVersion) return
    drawnVersion = state.version()
    lines = renderLiveLines(state.snapshot(), stream.columns || DEFAULT_COLUMNS)
    update(lines.join('\n'))
  }
  const timer = setInterval(draw, intervalMs).unref()
  return {
    /** Prints a line above the view, with control characters escaped. @param {string} line */
    say(line) {
      if (isOpen) update.clear()
      stream.write(`${escapeControls(line)}\n`)
      if (isOpen && lines.length > 0) update(lines.join('\n'))
    },
    /** Removes the view, once; `say` still prints lines. */
    close() {
      if (!isOpen) return
      isOpen = false
      clearInterval(timer)
      update.clear()
    },
  }
}

/**
 * Renders what a sidecar uses: its CPU, with a bar if it has a limit, its throttling and its memory.
 * @param {import('../judge/sidecars.js').SidecarNow} sidecar
 * @returns {(string | null)[]} CPU, throttling and memory; null: not known, or it has no limit that could throttle it
 */
function renderSidecarUse(sidecar) {
  const { ofCap, cpuLimitCores } = sidecar
  // A sidecar can use more than its limit between two readings: the bar then is full.
  const fullColumns = Math.min(CPU_BAR_COLUMNS, Math.floor(CPU_BAR_COLUMNS * (ofCap ?? 0)))
  const emptyColumns = CPU_BAR_COLUMNS - fullColumns
  const bar = cpuLimitCores === null ? '' : `${'█'.repeat(fullColumns)}${'░'.repeat(emptyColumns)} `
  return [`${bar}${renderCpuUse(sidecar)}`, renderThrottling(sidecar), renderMemoryUse(sidecar)]
}

/**
 * Joins the fields that are not empty, by two spaces.
 * @param {(string | null | undefined)[]} fields
 * @returns {string}
 */
const joinFields = fields => fields.filter(Boolean).join('  ')

/**
 * Removes the characters that could disturb the terminal (CONTROLS), line ends too.
 * @param {string} text
 * @returns {string}
 */
const removeControls = text => text.replace(CONTROLS, '')
