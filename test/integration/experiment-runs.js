import path from 'node:path'
import { execa } from 'execa'
import { expect } from 'vitest'
import { findResult } from '../../src/model/results.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { makeFolder } from '../fakes/scratch.js'
import { expectNothingLeft } from './leftovers.js'
import { need } from './real-tools.js'

/** Runs of the real tools whose records and summary are looked at. */
/** @import { Summary, TrialRecord } from '../../src/model/types.ts' */

export const folder = makeFolder('experiments-test')
let runs = 0

export const cli = (/** @type {string[]} */ ...argv) => execa('node', ['src/cli.js', ...argv], { reject: false })

/** @param {string[]} argv @param {Record<string, string>} [env] */
export async function run(argv, env = {}) {
  const out = path.join(folder, `run-${++runs}`)
  const child = execa('node', ['src/cli.js', ...argv, '--out', out], { reject: false, env })
  const { stdout, stderr, exitCode } = await child
  // 3: noise has spoiled what could be compared; that everything ran is seen in the records.
  expect([0, 3], `${stdout}\n${stderr}`).toContain(exitCode)
  expectNothingLeft(child.pid)
  return { out, stdout, stderr, records: readRun(out).records, summary: /** @type {Summary} */ (readSummary(out)) }
}

/**
 * Runs an experiment, and computes its numbers again.
 * @param {string[]} argv its name or file, and options
 * @param {import('vitest').TestContext} context
 * @param {(seen: { records: TrialRecord[], summary: Summary, stdout: string }) => void} [show] asserts what only it shows
 */
export async function tryExperiment(argv, context, show) {
  need(context, 'pipy', 'envoy', 'k6', 'caps')
  const { out, records, summary, stdout, stderr } = await run(['bench', ...argv])
  expect(stderr).not.toContain('Warning')
  expect(records.length).toBeGreaterThan(0)
  // In a search a trial may fail: that is what it looks for.
  const isSearch = (findResult(summary, 'search')?.searches ?? []).length > 0
  for (const { outcome, reasons, trial } of isSearch ? [] : records)
    expect(outcome, `${trial.id}: ${reasons.join()}`).not.toBe('failed')
  show?.({ records, summary, stdout })
  const { stdout: verified, exitCode } = await cli('verify', out)
  expect(exitCode, verified).toBe(0)
}
