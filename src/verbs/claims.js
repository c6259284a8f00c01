import { evaluateClaims } from '../analysis/claims/claims.js'
import { summarise } from '../analysis/summarise.js'
import { readRun } from '../records/records.js'
import { renderClaims } from '../report/claims.js'
import { findClaims } from './documents.js'

/**
 * `claims`: published numbers against runs.
 * @import { Command } from 'commander'
 * @import { Context } from './program.js'
 */

/**
 * @param {Command} program
 * @param {Context} context
 */
export function addClaims(program, { print, say }) {
  program
    .command('claims')
    .description('compare published numbers with your runs')
    .argument('<results...>', 'results folders, oldest first')
    .option('--json', 'print the answers as JSON')
    .action((/** @type {string[]} */ folders, options) => {
      const summaries = folders.map(folder => {
        const run = readRun(folder)
        for (const warning of run.warnings) say(warning)
        return summarise(run)
      })
      const results = evaluateClaims({ files: findClaims(), summaries })
      print(options.json ? JSON.stringify(results, null, 2) : renderClaims(results).join('\n'))
    })
}
