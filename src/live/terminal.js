import { createLogUpdate } from 'log-update'
import { showControls } from '../lib/printable.js'
import { SIDECARS_SHOWN, sayArm, sayCores, sayLeft, sayMemory, sayNumber, sayThrottled, sayTrial } from './words.js'

/** Draws a run as a few lines of a terminal, again and again. @import { RunSnapshot, RunState } from './state.js' */

const COLUMNS = 80
const BAR_COLUMNS = 16
// Characters that move the cursor, colour the terminal or reverse the line; names come from files of others.
const CONTROLS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

/** Renders lines that fit a terminal. @param {RunSnapshot} snapshot @param {number} columns of the terminal */
export function renderLive(snapshot, columns) {
  const { experiment, progress, phase, secondsLeft, arm, sidecars, ratePerSecond, failed, ending } = snapshot
  const shown = sidecars.slice(0, SIDECARS_SHOWN)
  const width = Math.max(0, ...shown.map(({ service }) => clean(service).length))
  const lines = [
    joinWords([experiment, progress, sayTrial(snapshot), phase ?? ending?.outcome, sayLeft(secondsLeft)]),
    arm === null ? '' : joinWords([arm.name, sayArm(arm)]),
    ...shown.map(sidecar => joinWords([clean(sidecar.service).padEnd(width), ...saySidecar(sidecar)])),
    sidecars.length > shown.length ? `and ${sidecars.length - shown.length} more` : '',
    failed === null ? '' : `${sayNumber(ratePerSecond)} requests/s, ${failed} failed`,
  ]
  const shownLines = lines.filter(line => line !== '').map(line => [...clean(line)])
  return shownLines.map(line => (line.length > columns ? `${line.slice(0, columns - 1).join('')}…` : line.join('')))
}

/**
 * Shows a run on a terminal, in place. Only a timer draws, and only news, because sampling shares this process.
 * @param {{ stream: NodeJS.WritableStream & { columns?: number }, state: Pick<RunState, 'snapshot' | 'version'>,
 *   intervalMs?: number }} options stream: a terminal
 */
export function createTerminalView({ stream, state, intervalMs = 500 }) {
  // log-update would hide the cursor by listening to signals, and end the process, which the kit stops gently.
  const update = createLogUpdate(stream, { showCursor: true })
  let drawn = 0
  let lines = /** @type {string[]} */ ([])
  let isOpen = true
  const draw = () => {
    if (state.version() === drawn) return
    drawn = state.version()
    lines = renderLive(state.snapshot(), stream.columns || COLUMNS)
    update(lines.join('\n'))
  }
  const timer = setInterval(draw, intervalMs).unref()
  return {
    /** Prints a line above the view. @param {string} line */
    say(line) {
      if (isOpen) update.clear()
      stream.write(`${showControls(line)}\n`)
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

/** @param {import('../judge/sidecars.js').SidecarNow} sidecar */
function saySidecar(sidecar) {
  const { ofCap, capCores } = sidecar
  const full = Math.min(BAR_COLUMNS, Math.floor(BAR_COLUMNS * (ofCap ?? 0)))
  const bar = capCores === null ? '' : `${'█'.repeat(full)}${'░'.repeat(BAR_COLUMNS - full)} `
  return [`${bar}${sayCores(sidecar)}`, sayThrottled(sidecar), sayMemory(sidecar)]
}

/** @param {(string | null | undefined)[]} words */
const joinWords = words => words.filter(Boolean).join('  ')

/** @param {string} text */
const clean = text => text.replace(CONTROLS, '')
