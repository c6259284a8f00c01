// Whether a machine and its cluster give the same CPU per request.
import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { Command } from 'commander'
import { BenchError, EXIT } from '../../src/lib/errors.js'
import { renderTimestamp } from '../../src/lib/timestamp.js'
import { measurePreparation } from '../../src/prepare/measure.js'
import { addExperimentOptions, addSharedOptions, CLUSTER_OPTIONS } from '../../src/prepare/options.js'
import { announceRun, assertMaxMinutes, drawSeed, prepareRun } from '../../src/prepare/prepare-run.js'
import { readExperiment } from '../../src/prepare/read-experiment.js'
import { withSite } from '../../src/prepare/site.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { runConcurrently } from '../../src/run/concurrency.js'
import { writeDocuments } from '../../src/verbs/documents.js'
import { chooseExitStatus, renderErrorMessage } from '../../src/verbs/program.js'
import { compareTargets, renderAgreement } from './agreement.js'
import { createTurns } from './turns.js'

/** @import { Site } from '../../src/model/types.ts' @import { RunOptions } from '../../src/prepare/options.js' */
/** @import { Context } from '../../src/verbs/program.js' */

const TARGETS = /** @type {const} */ (['local', 'kubernetes'])

const SIGNALS = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hangup }

/** Runs an experiment on this machine and on its cluster, in turn. @param {string[]} words of the command line: those of bench */
export async function runAgreement(words) {
  const stopping = new AbortController()
  setMaxListeners(0, stopping.signal)
  for (const [name, status] of Object.entries(SIGNALS))
    process.once(name, () => stopping.abort(new BenchError(`interrupted by ${name}`, { exitStatus: status })))
  /** @type {Context} */
  const context = {
    print: text => console.log(text),
    say: line => void process.stderr.write(`${line}\n`),
    end(status) {
      process.exitCode = status
    },
    signal: stopping.signal,
    watch: () => Promise.reject(new BenchError('agree has no live view')),
  }
  const verb = addSharedOptions(addExperimentOptions(new Command('agree')), ...CLUSTER_OPTIONS, 'out').exitOverride()
  verb.action(async (name, /** @type {RunOptions} */ runOptions) => {
    // Nothing is pinned on the cluster, so nothing is pinned here.
    const options = { ...runOptions, pin: false, seed: runOptions.seed ?? drawSeed() }
    const ofCluster = Object.fromEntries(CLUSTER_OPTIONS.map(option => [option, undefined]))
    const here = { ...options, ...ofCluster, target: TARGETS[0] }
    const there = { ...options, target: TARGETS[1] }
    await withSite(here, context, local =>
      withSite(there, context, cluster => compareSites({ name, options, sites: [local, cluster] }, context)),
    )
  })
  try {
    await verb.parseAsync(words, { from: 'user' })
  } catch (error) {
    process.exitCode = chooseExitStatus(stopping.signal.aborted ? stopping.signal.reason : error)
    const message = renderErrorMessage(error)
    if (message !== null) context.say(message)
  }
}

/** @param {{ name: string, options: RunOptions, sites: Site[] }} options sites: as TARGETS @param {Context} context */
async function compareSites({ name, options, sites }, context) {
  const [here, there] = sites.map(site => site.machine)
  if (here.bootId !== there.bootId)
    throw new BenchError(`the node ${there.node} is another machine than this one: run this on the node itself`)
  /** @type {import('../../src/run/execute.js').Preparation[]} */
  const preparations = []
  for (const site of sites)
    preparations.push(await prepareRun({ experiment: readExperiment(name), options, site }, context))
  announceRun({ plan: preparations[1].plan }, context)
  assertMaxMinutes(preparations[1].plan, options)
  const out = options.out ?? path.join('results', `${renderTimestamp()}-agree`)
  const folders = TARGETS.map(target => path.join(out, target))
  try {
    const turns = createTurns(sites.length)
    const run = (/** @type {Site} */ site, /** @type {number} */ i) => (/** @type {AbortSignal} */ signal) =>
      measurePreparation({
        preparation: preparations[i],
        site,
        out: folders[i],
        execution: { command: process.argv.slice(2), turns: turns[i] },
        watcher: { say: line => context.say(`${TARGETS[i]}: ${line}`) },
        signal,
      }).finally(() => setImmediate(turns[i].leave))
    // Both run at once, and one measures at a time. A failure stops the other before it gets the turn.
    await runConcurrently(context.signal, sites.map(run))
  } finally {
    // Documents wait for both ends: drawing one would take CPU from the other.
    for (const folder of folders.filter(folder => existsSync(path.join(folder, 'summary.json'))))
      if (!(await writeDocuments(folder, context))) context.end(EXIT.failed)
    if (context.signal.aborted) context.say(`results: ${out}`)
  }
  const [local, other] = folders.map(folder => {
    const { manifest, records } = readRun(folder)
    const { arms, rounds, run } = manifest
    return { arms, records, rounds, seed: run.seed, summary: readSummary(folder) }
  })
  context.print(renderAgreement(compareTargets({ local, other }), TARGETS[1]))
  context.say(`results: ${out}`)
}
