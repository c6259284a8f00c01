import { setMaxListeners } from 'node:events'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { compareTargets, renderAgreement } from '../analysis/agree.js'
import { BenchError } from '../lib/errors.js'
import { EXIT } from '../lib/exit-status.js'
import { takeEvery } from '../lib/take-every.js'
import { createTurns } from '../lib/turns.js'
import { measure } from '../prepare/measure.js'
import { withCluster, withExperiment } from '../prepare/options.js'
import {
  announce,
  assertShort,
  chooseSeed,
  openSite,
  prepareWith,
  stampNow,
  toolSpecs,
} from '../prepare/preparation.js'
import { readExperiment } from '../prepare/read-experiment.js'
import { readRun, readSummary } from '../records/records.js'
import { writeDocuments } from './documents.js'

/**
 * `agree`: the same experiment on this machine and on its cluster, round by round in turn.
 * @import { Command } from 'commander'
 * @import { Preparation } from '../run/execute.js'
 * @import { Site } from '../model/types.ts'
 * @import { Context } from './program.js'
 */

const TARGETS = /** @type {const} */ (['local', 'kubernetes'])

/**
 * @param {Command} verb
 * @param {Context} context
 */
export function addAgree(verb, context) {
  const { print, say, end } = context
  withCluster(
    withExperiment(verb),
    toolSpecs().map(t => t.name),
  )
    .option('--out <dir>', 'results folder; must not exist or be empty')
    .action(async (experimentName, options) => {
      // On the cluster nothing is pinned: so here neither.
      const own = { ...options, pin: false, seed: options.seed ?? chooseSeed() }
      const out = options.out ?? path.join('results', `${stampNow()}-agree`)
      /** @type {Site[]} */
      const sites = []
      try {
        for (const target of TARGETS) {
          const site = await openSite({ ...own, target }, context)
          if (site === null) return
          sites.push(site)
        }
        const [here, there] = sites.map(site => site.machine)
        if (here.bootId !== there.bootId) {
          throw new BenchError(`the node ${there.node} is another machine than this one: run this on the node itself`)
        }
        /** @type {Preparation[]} */
        const preparations = []
        for (const site of sites) {
          const experiment = readExperiment(experimentName)
          preparations.push(await prepareWith({ experiment, options: own, site }, context))
        }
        for (const note of announce(preparations[1].plan)) say(note)
        assertShort(preparations[1].plan, options)
        const folders = TARGETS.map(target => path.join(out, target))
        try {
          await runInTurns({ sites, preparations, folders }, context)
        } finally {
          // Not before both have ended: to draw one would take CPU from the other.
          const summarised = folders.filter(folder => existsSync(path.join(folder, 'summary.json')))
          for (const folder of summarised) if (!(await writeDocuments(folder, context))) end(EXIT.failed)
        }
        const [local, other] = folders.map(readSide)
        print(renderAgreement(compareTargets({ local, other }), TARGETS[1]))
        say(`results: ${out}`)
      } finally {
        await takeEvery(sites.map(site => () => site.target.close()))
      }
    })
}

/**
 * Runs both at once, of which one measures at a time; where one fails, the other is stopped.
 * @param {{ sites: Site[], preparations: Preparation[], folders: string[] }} sides
 * @param {Context} context
 * @throws what the first of them failed with
 */
async function runInTurns({ sites, preparations, folders }, { say, signal: stopping }) {
  const stopped = new AbortController()
  const signal = AbortSignal.any([stopping, stopped.signal])
  setMaxListeners(0, signal)
  const turns = createTurns(sites.length)
  const runs = sites.map((site, i) =>
    measure({
      preparation: preparations[i],
      site,
      out: folders[i],
      execution: { command: process.argv.slice(2), turns: turns[i] },
      watcher: { say: line => say(`${TARGETS[i]}: ${line}`) },
      signal,
    })
      .catch(error => {
        stopped.abort(error)
        throw error
      })
      .finally(turns[i].leave),
  )
  const ended = await Promise.allSettled(runs)
  const failed = ended.find(run => run.status === 'rejected')
  if (failed) throw failed.reason
}

/** @param {string} folder of a run */
function readSide(folder) {
  const { manifest, records } = readRun(folder)
  const { arms, rounds, run } = manifest
  return { arms, records, rounds, seed: run.seed, summary: readSummary(folder) }
}
