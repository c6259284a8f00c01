import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { computeCpuPerRequestMicros, listSidecars } from '../judge/record/measures.js'
import { countCalls, countInstructions } from '../lab/count.js'
import { CALLERS } from '../lab/profile.js'
import { joinWindows, sampleTrial } from '../lab/sample.js'
import { assertServes } from '../lab/serves.js'
import { BenchError } from '../lib/errors.js'
import { probeConfiguration } from '../parity/probe-plane.js'
import { listPipelineTlsNotes, probeLoadAnswers } from '../parity/user-scripts.js'
import { renderRowName } from '../parity/verdict/checks.js'
import { isWrong } from '../parity/verdict/rows.js'
import { writeAtomically } from '../records/files.js'
import { createPipeline, readPipeline } from '../tools/read-pipeline.js'

/**
 * Runs the steps of a comparison in `lab`: both sides are tried, checked, and counted or sampled.
 * @import { Costs, Sides } from '../lab/comparison.js'
 * @import { Side } from '../lab/sides.js'
 * @import { Arm, Tool } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 */

export const SIDES = /** @type {const} */ (['old', 'new'])
/** @typedef {typeof SIDES[number]} SideName */

/**
 * Both sides, ready to start.
 * @typedef {object} Rig
 * @property {Record<SideName, Arm[]>} arms of the same links on both sides
 * @property {Record<SideName, Testbed>} testbeds
 * @property {Tool} profiler valgrind, or perf
 * @property {Tool | null} strace counts system calls; null: they are not counted
 * @property {string} folder of the lab
 * @property {() => number} nextStart numbers each start
 */

/** The differences of a refused side are written to this file, a line each. */
const REFUSED = 'results/lab-refused.txt'
// Sides alternate, so that a drift affects both alike. Two windows of a side show how much windows vary.
const TURNS = /** @type {const} */ (['old', 'new', 'new', 'old'])

/**
 * Creates a `say` that prefixes each line with the side's name.
 * @param {{ name: SideName, isAlone: boolean, say: (line: string) => void }} options isAlone: no side is compared with this one
 * @returns {(line: string) => void} `say` itself, if the side is alone
 */
export function createSideSay({ name, isAlone, say }) {
  return isAlone ? say : (/** @type {string} */ line) => say(`${name}: ${line}`)
}

/**
 * Replaces the content of a pipeline by its files as they are now: they may have changed since the last start.
 * @param {Side['pipeline']} pipeline is changed, unless it is null or `unknown`
 * @throws {import('../lib/errors.js').UsageError} if the files are no valid pipeline; the system's error if one cannot be read
 */
export function rereadPipeline(pipeline) {
  if (pipeline === null || pipeline === 'unknown') return
  Object.assign(pipeline, readPipeline(pipeline.scripts) ?? createPipeline(pipeline))
}

/**
 * Starts a side without a counter, on each of its links, sends it requests, and prints notes on its TLS and on memory that grows.
 * @param {Rig} rig
 * @param {{ name: SideName, requests: number, signal: AbortSignal, say: (line: string) => void }} options requests:
 *   their number on each link
 * @returns {Promise<string[]>} the distinct answers on each link, as one text
 * @throws {BenchError} if it does not serve; as `assertServes`; the signal's reason when it aborts
 */
export async function assertSideServes({ arms, testbeds, folder: labFolder, nextStart }, { name, ...options }) {
  const answers = []
  for (const arm of arms[name]) {
    const start = nextStart()
    const folder = path.join(labFolder, `${start}-${name}-${arm.link}-plain`)
    const probe = { testbed: testbeds[name], arm, start, folder, ...options }
    const { found } = await assertServes(probe, async services => {
      for (const note of await listPipelineTlsNotes({ ...probe, services })) options.say(note)
      return await probeLoadAnswers({ ...probe, services })
    })
    answers.push(found)
  }
  return answers
}

/**
 * Asserts that a side does equal work, by the check on its first arm. Shortfalls that its plane declares are accepted. The
 * differences of a refused side are written to REFUSED.
 * @param {Rig} rig
 * @param {{ name: SideName, label: string, signal: AbortSignal }} options label: of the side, for errors
 * @throws {BenchError} if the side does other work, or is not ready; as `probeConfiguration`; an error of writing REFUSED; the signal's
 *   reason when it aborts
 */
export async function assertSideParity({ testbeds, arms, nextStart }, { name, label, signal }) {
  // One arm is enough: arms differ in their links, which the corpus does not use; each starts when it is counted.
  const alike = arms[name].slice(0, 1)
  const rows = await probeConfiguration({ testbed: testbeds[name], alike, index: nextStart(), signal })
  const wrongRows = rows.filter(row => isWrong(row) && !row.lacks)
  if (wrongRows.length === 0) return
  const lines = wrongRows.flatMap(({ name, found, expected, differences }) => [
    `${name}: ${found} (${expected} is expected)`,
    ...differences.map(difference => `  ${difference}`),
  ])
  const file = path.resolve(REFUSED)
  mkdirSync(path.dirname(file), { recursive: true })
  writeAtomically(path.dirname(file), path.basename(file), `${label}\n${lines.join('\n')}\n`)
  const names = wrongRows.map(row => renderRowName(row.name)).join(', ')
  throw new BenchError(
    `${label} does not do the work of a sidecar, so its instructions cannot be compared: it falls short in ${names} (each line: ${path.relative('', file)}); --no-parity counts them anyway`,
  )
}

/**
 * Counts the instructions of a side, then its system calls, with another tool.
 * @param {Rig} rig
 * @param {{ name: SideName, requests: number, hasHandshakes: boolean, signal: AbortSignal }} options requests: to
 *   count, rounded up to an even number; hasHandshakes: new mTLS connections are counted, too
 * @returns {Promise<Costs[]>} of each sidecar of each link; without strace they have no system calls
 * @throws as `countInstructions` and `countCalls`
 */
export async function countSide(rig, { name, ...options }) {
  // The requests are counted in two halves, so their number is even.
  const requests = 2 * Math.ceil(options.requests / 2)
  const counts = []
  for (const arm of rig.arms[name]) {
    const createCountOptions = () => {
      const start = rig.nextStart()
      const folder = path.join(rig.folder, `${start}-${name}-${arm.link}`)
      return { ...options, requests, testbed: rig.testbeds[name], arm, start, folder }
    }
    const sidecars = await countInstructions({ ...createCountOptions(), valgrind: rig.profiler, callers: CALLERS })
    const calls = rig.strace ? await countCalls({ ...createCountOptions(), strace: rig.strace }) : []
    for (const sidecar of sidecars)
      counts.push({ ...sidecar, ...calls.find(({ service }) => service === sidecar.service) })
  }
  return counts
}

/**
 * Samples both sides under load, in turns.
 * @param {Rig} rig
 * @param {AbortSignal} signal
 * @returns {Promise<Sides & { notes: string[] }>} notes: the numbers of samples, and what is missing in them
 * @throws {BenchError} if a trial is not completed, perf cannot sample, or a sidecar has no sample; as `sampleTrial`; the signal's
 *   reason when it aborts
 */
export async function sampleSides({ arms, testbeds, profiler: perf, nextStart }, signal) {
  /** @type {Sides} */
  const sides = { old: [], new: [] }
  let hasKernel = true
  for (const [i, { link }] of arms.new.entries()) {
    /** @type {Record<SideName, Sampled[]>} */
    const windows = { old: [], new: [] }
    for (const [turn, name] of TURNS.entries()) {
      const arm = arms[name][i]
      const trial = { id: `${turn}-${name}-${link}`, kind: 'capacity', round: 1, arm, repeats: null, searchOf: null }
      windows[name].push(await sampleTrial({ testbed: testbeds[name], trial, start: nextStart(), perf, signal }))
    }
    for (const name of SIDES) {
      sides[name].push(...joinSidecarWindows(link, windows[name]))
      hasKernel &&= windows[name].every(window => window.hasKernel)
    }
  }
  return { ...sides, notes: renderSampleNotes(sides, hasKernel) }
}

/** @typedef {Awaited<ReturnType<typeof sampleTrial>>} Sampled */

/**
 * Joins the windows of one side for each of its sidecars, which all windows have.
 * @param {string} link
 * @param {Sampled[]} windows at least one
 * @returns {Costs[]} one for each sidecar
 * @throws {BenchError} if a sidecar has no sample in a window
 */
function joinSidecarWindows(link, windows) {
  return Object.keys(windows[0].profiles).map(service => {
    const profiles = windows.map(({ record, profiles }) => ({
      profile: profiles[service],
      nanos: 1000 * (computeCpuPerRequestMicros(record, listSidecars(record, service)) ?? Number.NaN),
    }))
    return joinWindows({ link, service }, profiles)
  })
}

/**
 * Renders the numbers of samples, and a note if the kernel is missing in them.
 * @param {Sides} sides
 * @param {boolean} hasKernel
 * @returns {string[]}
 */
function renderSampleNotes(sides, hasKernel) {
  const counts = sides.new.map(({ link, service, samples }) => {
    const old = sides.old.find(costs => costs.link === link && costs.service === service)
    return `${service} of ${link} ${old?.samples} and ${samples}`
  })
  return [
    `samples of perf, old and new: ${counts.join(', ')}; a function with n of them is uncertain by the root of n`,
    ...(hasKernel
      ? []
      : ['the kernel showed perf no samples of its own: its share is spread over the rest; run as root']),
  ]
}
