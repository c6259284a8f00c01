import { groupBy } from '../../lib/group-by.js'
import { alignRight, renderTextTable, wrapText } from '../../lib/text-table.js'
import { MIB } from '../../lib/units.js'
import { renderArmName } from '../../model/arms.js'
import { renderMillicores } from '../../model/container-limits.js'
import { RULE } from './confirm.js'

/**
 * Every trial of `size`, and what its limits mean. Pure.
 * @import { SizeResult } from '../../model/types.ts'
 * @import { AnsweredSize, SizeAnswer } from './size-answer.js'
 */

const MEMORY =
  "Memory limit: 1.5 times the most that a sidecar took, pages of its program included. A pod's limit counts what its cgroup is charged for, and was tried here as that; RSS counts shared pages in each sidecar, PSS divides them."
const REQUEST = {
  ofUse: 'CPU request: what the busiest sidecar used on average, and 15 % more.',
  tried:
    'CPU: the request of each sidecar, without a CPU limit, beside the neighbour. None below what the busiest sidecar used on average is tried.',
}

/**
 * Renders a table of every trial of each plane, with what its sidecars used, and the rules.
 * @param {AnsweredSize[]} sizes
 * @returns {string[]} lines; []: there are no sizes
 */
export function renderTrialTables(sizes) {
  if (sizes.length === 0) return []
  const tables = [...groupBy(sizes, renderArmName)].flatMap(([name, sizesOfPlane]) => [
    `${name}: each trial, and the limits that it had`,
    ...renderTrialTable(sizesOfPlane).map(line => `  ${line}`),
    ...sizesOfPlane.flatMap(({ answer: { need } }) => (need ? [renderUse(need)] : [])),
    '',
  ])
  const isRequestTried = sizes.some(({ neighbourCores }) => neighbourCores !== undefined)
  const rules = [`${RULE}. ${isRequestTried ? REQUEST.tried : REQUEST.ofUse}`, MEMORY]
  return [...tables, ...rules.flatMap(line => wrapText(line))]
}

/**
 * Renders a table of the trials of one plane.
 * @param {AnsweredSize[]} sizes
 * @returns {string[]} lines
 */
function renderTrialTable(sizes) {
  return renderTextTable({
    caption: '',
    columns: [
      ['trial', 'left'],
      ...alignRight('requests/s', 'CPU', 'memory', 'p99'),
      ['state', 'left'],
      ['why', 'left'],
    ],
    rows: sizes.flatMap(({ trials = [] }) => trials.map(renderTrialCells)),
  })
}

/**
 * Renders the cells of a trial: `-` for a CPU limit or a p99 that it does not have.
 * @param {NonNullable<SizeResult['trials']>[0]} trial
 * @returns {string[]}
 */
function renderTrialCells({ trial, ratePerSecond, cpuCores, memoryBytes, state, p99Ms, why }) {
  return [
    trial,
    String(ratePerSecond),
    cpuCores === null ? '-' : renderMillicores(cpuCores),
    memoryBytes === null ? 'no limit' : `${(memoryBytes / MIB).toFixed(2)} MiB`,
    p99Ms === null ? '-' : `${p99Ms.toFixed(1)} ms`,
    state,
    why,
  ]
}

/**
 * Renders what sidecars used, in each measure of memory: `-` for one that was not read.
 * @param {NonNullable<SizeAnswer['need']>} need
 * @returns {string} one line; without `memory`, it ends after the bytes of the largest sidecar
 */
function renderUse({ cores, bytes, memory }) {
  const renderMebibytesOrDash = (/** @type {number | null} */ value) =>
    value === null ? '-' : (value / MIB).toFixed(1)
  const used = `  the busiest sidecar used ${(1000 * cores).toFixed(0)}m, and the largest ${renderMebibytesOrDash(bytes)} MiB`
  if (!memory) return used
  const { peakBytes, workingSetBytes, rssBytes, anonBytes, pssBytes } = memory
  const measures = [
    `most charged ${renderMebibytesOrDash(peakBytes)}`,
    `working set ${renderMebibytesOrDash(workingSetBytes)}`,
    `RSS ${renderMebibytesOrDash(rssBytes)}`,
    `anonymous ${renderMebibytesOrDash(anonBytes)}`,
    `PSS ${renderMebibytesOrDash(pssBytes)}`,
  ]
  return `${used}: ${measures.join(', ')}`
}
