// What the measurements of the kit share: running it, and variants of its Pipy sidecar made for the purpose.
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { ROOT } from '../../src/lib/paths.js'
import { readRun } from '../../src/records/records.js'

/**
 * @import { Summary, TrialRecord } from '../../src/model/types.ts'
 */

/** @typedef {{ promise: string, measured: string, isKept: boolean | null }} Finding isKept: null: what was measured does not decide it */

/** @type {string | null} */
let scratch = null
let runs = 0

/** Returns the folder for what measurements write: made at the first call, removed when the program ends. */
export function getScratch() {
  if (scratch !== null) return scratch
  const folder = mkdtempSync(path.join(os.tmpdir(), 'bench-self-'))
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  scratch = folder
  return folder
}

/**
 * Runs the kit and gives back what it left.
 * @param {string[]} argv
 * @param {(out: string) => Promise<unknown>} [beside] what happens beside it
 * @returns {Promise<{ records: TrialRecord[], summary: Summary, manifest: any, folder: string }>}
 */
export async function runKit(argv, beside) {
  const out = path.join(getScratch(), `run-${++runs}`)
  const child = execa('node', ['src/cli.js', 'bench', ...argv, '--out', out, '--json'], {
    ...{ cwd: ROOT, stderr: 'inherit', reject: false },
  })
  await beside?.(out)
  const { exitCode, stdout } = await child
  // 3: nothing could be compared, and here nobody asked for that.
  if (exitCode !== 0 && exitCode !== 3) throw new Error(`the run ended with status ${exitCode}`)
  const { records, manifest } = readRun(out)
  return { records, manifest, summary: JSON.parse(stdout), folder: out }
}

/**
 * An experiment file for lengths of its own.
 * @param {string} name
 * @param {{ rounds: number, windowSeconds: number, hasControl?: boolean }} lengths
 */
export function writeExperiment(name, { rounds, windowSeconds, hasControl = true }) {
  const file = path.join(getScratch(), `${name}.yaml`)
  writeFileSync(
    file,
    `name: ${name}
question: Does the kit keep its promise?
axes: { plane: [pipy], link: [gateway-ratings], cpuLimitCores: [0.25] }
profiles: { standard: { rounds: ${rounds}, windowSeconds: ${windowSeconds}, hasControl: ${hasControl} } }
`,
  )
  return file
}

/**
 * A copy of the kit's Pipy sidecar with a filter put before what happens to a request.
 * @param {string} name
 * @param {{ side?: 'both' | 'inbound' | 'outbound', before?: string, filter: string }} change side: of a sidecar; before: what the filter needs
 */
export function writeVariant(name, { side = 'both', before = '', filter }) {
  const folder = path.join(getScratch(), name)
  cpSync(path.join(ROOT, 'pipy-scripts'), folder, { recursive: true })
  const file = path.join(folder, 'proxy.js')
  const changed = `pipeline($=>$${filter}.pipe(way))`
  replaceText(file, {
    from: '  return pipeline($=>$\n    .demuxHTTP({ bufferSize }).to(way)',
    to: `  var changed = ${changed}
  return pipeline($=>$\n    .demuxHTTP({ bufferSize }).to(${side === 'both' ? 'changed' : `routes === config.${side}?.routes ? changed : way`})`,
  })
  replaceText(file, { from: 'export function', to: `${before}\n\nexport function` })
  return folder
}

/** @param {string} file @param {{ from: string, to: string }} edit */
function replaceText(file, { from, to }) {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
  writeFileSync(
    file,
    text.replace(from, () => to),
  )
}

/**
 * @param {string} promise
 * @param {number} value
 * @param {number[]} all
 * @param {(value: number) => boolean} isKept
 * @returns {Finding}
 */
export function createFinding(promise, value, all, isKept) {
  const range =
    all.length > 1 ? ` [${Math.min(...all).toFixed(4)}, ${Math.max(...all).toFixed(4)}] in ${all.length} trials` : ''
  return { promise, measured: `${value.toFixed(4)}${range}`, isKept: isKept(value) }
}
