import { createLogUpdate } from 'log-update'
import { escapeControls } from '../lib/printable.js'
import {
  renderArm,
  renderCpuUse,
  renderMemoryUse,
  renderNumber,
  renderPlace,
  renderRatio,
  renderThrottling,
  renderTimeLeft,
  renderTrialPlace,
  renderValues,
  SIDECARS_SHOWN,
} from './words.js'

/**
 * Draws a run as a few lines of a terminal, again and again.
 * @import { ValueRow } from './repeats.js'
 * @import { RunSnapshot, RunState } from './state.js'
 */

// Assumed if the terminal does not say its width.
const COLUMNS = 80
const BAR_COLUMNS = 16
// The longest bar, of the row with the highest cost.
const SHARE_COLUMNS = 20
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']
const ROWS_SHOWN = 6
const RATIOS_SHOWN = 5
// Characters that move the cursor, colour the terminal or reverse the line: names may come from the files of other people.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/**
 * Renders a line of progress, then the values so far or, until there is one, the sidecars of the trial. Lines are cut to the
 * columns, and have no control characters.
 * @param {RunSnapshot} snapshot
 * @param {number} columns of the terminal
 * @returns {string[]}
 */
export function renderLiveLines(snapshot, columns) {
  const { experiment, progress, phase, secondsLeft, ending } = snapshot
  const status = ending?.outcome ?? (phase === 'parity' ? 'equal-work check' : phase)
  const lines = [
    [experiment, progress ?? renderTrialPlace(snapshot), status, renderTimeLeft(secondsLeft)]
      .filter(Boolean)
      .join(' · '),
    ...(renderSoFar(snapshot, columns) ?? renderSidecars(snapshot)),
  ]
  const characters = lines.filter(line => line !== '').map(line => [...removeControls(line)])
  return characters.map(line => (line.length > columns ? `${line.slice(0, columns - 1).join('')}…` : line.join('')))
}

/**
 * Renders the first part as bars with its first ratios, and each later part as a line.
 * @param {RunSnapshot} snapshot
 * @param {number} columns
 * @returns {string[] | null} null: the first part has no value yet
 */
function renderSoFar({ parts, failed, ending }, columns) {
  const [first, ...laterParts] = parts
  if (!first?.rows.some(({ cost }) => cost !== null)) return null
  const { rows, ratios } = first
  const ratioLines = ratios.slice(0, RATIOS_SHOWN).map(ratio => {
    const advice = ratio === ratios[0] && ending === null ? '; Ctrl-C keeps it' : ''
    return `  ${renderRatio(ratio)}${ratio.isNarrower ? ', narrowing' : ''}${advice}`
  })
  const laterLines = laterParts.map(part => `  ${renderPlace(part)}: ${renderValues({ ...part, ratios: [] })}`)
  return [...renderBars(rows, columns), ...ratioLines, ...laterLines, failed ? `  ${failed} requests failed` : '']
}

/**
 * Renders a bar for each of the first ROWS_SHOWN rows with a cost. If there are only two, they share a line if they fit.
 * @param {ValueRow[]} rows
 * @param {number} columns
 * @returns {string[]} lines
 */
function renderBars(rows, columns) {
  const drawn = rows.filter(({ cost }) => cost !== null).slice(0, ROWS_SHOWN)
  const largestCost = Math.max(...drawn.map(({ cost }) => cost ?? 0))
  const pad = (/** @type {'label' | 'text'} */ name) => Math.max(...drawn.map(row => removeControls(row[name]).length))
  const [labels, texts] = [pad('label'), pad('text')]
  const bars = drawn.map(({ label, text, cost }) => {
    const eighths = Math.round((8 * SHARE_COLUMNS * (cost ?? 0)) / (largestCost || 1))
    const bar = `${'█'.repeat(eighths >> 3)}${EIGHTHS[eighths & 7]}`
    return `  ${removeControls(label).padEnd(labels)}  ${removeControls(text).padStart(texts)}  ${bar.padEnd(SHARE_COLUMNS)}`
  })
  const barsPerLine = drawn.length <= 2 && 2 * bars[0].length <= columns ? 2 : 1
  return bars.flatMap((_, i) =>
    i % barsPerLine === 0
      ? [
          bars
            .slice(i, i + barsPerLine)
            .join('')
            .trimEnd(),
        ]
      : [],
  )
}

/**
 * Renders the arm, what the first SIDECARS_SHOWN sidecars use, the number of the others, and the rate and failures of the trial.
 * @param {RunSnapshot} snapshot
 * @returns {string[]} lines, some empty
 */
function renderSidecars({ arm, sidecars, ratePerSecond, failed }) {
  const visible = sidecars.slice(0, SIDECARS_SHOWN)
  const width = Math.max(0, ...visible.map(({ service }) => removeControls(service).length))
  return [
    arm === null ? '' : joinFields([arm.name, renderArm(arm)]),
    ...visible.map(sidecar =>
      joinFields([removeControls(sidecar.service).padEnd(width), ...renderSidecarUse(sidecar)]),
    ),
    sidecars.length > visible.length ? `and ${sidecars.length - visible.length} more` : '',
    failed === null ? '' : `${renderNumber(ratePerSecond)} requests/s, ${failed} failed`,
  ]
}

/**
 * Shows a run on a terminal, in place. A timer draws, and only after an event, because drawing delays the sampling in this
 * process.
 * @param {{ stream: NodeJS.WritableStream & { columns?: number }, state: Pick<RunState, 'snapshot' | 'version'>,
 *   intervalMs?: number }} options stream: a terminal; intervalMs: between two drawings
 * @returns say: prints a line above the view; close: removes the view
 */
export function createTerminalView({ stream, state, intervalMs = 500 }) {
  // To hide the cursor, log-update would listen to signals and end the process on one, while the kit first tears the run down.
  const update = createLogUpdate(stream, { showCursor: true })
  let drawn = 0
  let lines = /** @type {string[]} */ ([])
  let isOpen = true
  const draw = () => {
    if (state.version() === drawn) return
    drawn = state.version()
    lines = renderLiveLines(state.snapshot(), stream.columns || COLUMNS)
    update(lines.join('\n'))
  }
  const timer = setInterval(draw, intervalMs).unref()
  return {
    /** Prints a line above the view. @param {string} line */
    say(line) {
      if (isOpen) update.clear()
      stream.write(`${escapeControls(line)}\n`)
      if (isOpen && lines.length > 0) update(lines.join('\n'))
    },
    /** Removes the view; later lines are printed as they are. */
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
 * @returns {(string | null)[]} null: not known
 */
function renderSidecarUse(sidecar) {
  const { ofCap, cpuLimitCores } = sidecar
  const full = Math.min(BAR_COLUMNS, Math.floor(BAR_COLUMNS * (ofCap ?? 0)))
  const bar = cpuLimitCores === null ? '' : `${'█'.repeat(full)}${'░'.repeat(BAR_COLUMNS - full)} `
  return [`${bar}${renderCpuUse(sidecar)}`, renderThrottling(sidecar), renderMemoryUse(sidecar)]
}

/**
 * Joins the fields that are not empty.
 * @param {(string | null | undefined)[]} words
 * @returns {string}
 */
const joinFields = words => words.filter(Boolean).join('  ')

/**
 * Removes control characters.
 * @param {string} text
 * @returns {string}
 */
const removeControls = text => text.replace(CONTROLS, '')
