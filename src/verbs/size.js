import { parseNode } from '../analysis/node-fit.js'
import { EXIT } from '../lib/exit-status.js'
import { readKit } from '../lib/kit.js'
import { takeEvery } from '../lib/take-every.js'
import { createSizeExperiment } from '../plan/size-experiment.js'
import { renderNodeFit, renderSizes } from '../report/searches.js'
import { findScriptFolders } from '../run/execute.js'
import { openReusable } from '../run/reusable.js'
import { hashScripts } from '../run/scripts.js'
import { sayWhere, writeDocuments } from './documents.js'
import { measure } from './measure.js'
import { GENERATOR, parseMilliseconds, parseOnAxis, parsePlanes, parseSeed, withLength } from './options.js'
import { announce, assertShort, openSite, prepareWith, sayLacks } from './preparation.js'
import { withWatchers } from './watchers.js'

/**
 * `size`: the smallest limits that hold a load.
 * @import { Command } from 'commander'
 * @import { Context } from './program.js'
 */

/**
 * @param {Command} program
 * @param {Context} context
 */
export function addSize(program, context) {
  const { print, say, end, signal } = context
  withWatchers(withLength(program.command('size')))
    .description('find and prove the smallest CPU and memory limit that holds a load')
    .requiredOption('--rate <n>', 'requests per second to hold', parseOnAxis('ratePerSecond'))
    .requiredOption('--p99 <time>', 'the highest p99 that counts as held, such as 20ms', parseMilliseconds)
    .option('--link <name>', 'a link of bench/topologies', 'gateway-ratings')
    .option('--users <n>', 'the most requests at a time', parseOnAxis('users'))
    .option('--payload <size>', 'posted and echoed, such as 1KiB', parseOnAxis('payloadBytes'))
    .option('--planes <list>', 'data planes, each a name, name:profile or name=./scripts', parsePlanes)
    .option('--node <size>', 'also print how many sidecars fit a node of 2c4g (cores, GiB)')
    .option('--from <results...>', 'take matching trials from these runs instead of measuring again')
    .option('--extrapolate', 'where no limit here holds, extrapolate from lower rates')
    .option('--seed <n>', 'seed', parseSeed)
    .addOption(GENERATOR())
    .option('--no-pin', 'let generator, applications and sidecars share CPUs')
    .option('--out <dir>', 'results folder; must not exist or be empty')
    .option('--json', 'print summary.json instead of the answer')
    .action(async options => {
      const node = options.node ? parseNode(options.node) : null
      const experiment = createSizeExperiment({
        ...{ ratePerSecond: options.rate, p99Ms: options.p99, link: options.link, users: options.users ?? null },
        ...{ payloadBytes: options.payload ?? null, isExtrapolated: options.extrapolate ?? false },
      })
      // What the experiment already says is no override of it.
      const { rate, users, payload, link, ...own } = options
      const site = await openSite({ ...own, target: 'local' }, context)
      if (site === null) return
      /** @type {Awaited<ReturnType<typeof context.watch>> | null} */
      let watchers = null
      let isReported = true
      try {
        watchers = await context.watch(options)
        const asked = { experiment, options: { ...own, profile: 'standard' }, site }
        const preparation = await prepareWith(asked, context)
        const { plan, programs, layout } = preparation
        for (const note of announce(plan)) say(note)
        assertShort(plan, options)
        const reusable = openReusable({
          folders: options.from ?? [],
          machine: site.machine,
          tools: programs.tools,
          scripts: hashScripts({ arms: plan.arms, planes: programs.planes, folders: findScriptFolders(programs) }),
          layout,
          kit: await readKit(),
          settings: plan.settings,
        })
        const { summary, folder } = await measure({
          preparation,
          site,
          out: options.out ?? null,
          execution: { command: process.argv.slice(2), reusable },
          watcher: watchers,
          signal,
          finish: async folder => {
            isReported = await writeDocuments(folder, context)
          },
        })
        await watchers.close()
        print(options.json ? JSON.stringify(summary, null, 2) : renderSizes(summary).join('\n').trimEnd())
        if (node && !options.json) print(renderNodeFit(summary.sizes, node).join('\n'))
        if (!summary.sizes.some(size => size.isChecked)) end(EXIT.nothingShown)
        if (!isReported) end(EXIT.failed)
        sayWhere(folder, context)
        sayLacks(preparation, context)
      } finally {
        await takeEvery([() => watchers?.close(), () => site.target.close()])
      }
    })
}
