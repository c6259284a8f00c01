import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { copyKitScripts, copyShortestScript, SHORTEST } from '../lab/new-scripts.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { quoteWord } from '../lib/quote-word.js'
import { renderCommand } from '../lib/render-command.js'
import { draftPipeline, renderDraft } from '../prepare/draft-pipeline.js'
import { withSite } from '../prepare/site.js'
import { findPipelineFile, PIPELINE_FILE } from '../tools/pipeline-file.js'

/** @import { Context } from './program.js' */

/** Adds `lab new`, which copies the kit's scripts to be changed, or drafts a pipeline.yaml. @type {import('./program.js').AddVerb} */
export function addLabNew(lab, context) {
  lab
    .command('new')
    .description('make a copy of pipy-scripts to change, with the tests of its pure parts')
    .argument('[folder]', 'a new folder, such as my-scripts')
    .option(
      '--from <folder>',
      'instead of a copy: look how the scripts of a folder are run, and write its pipeline.yaml',
    )
    .option('--shortest', 'of the shortest script that does a hop over mTLS, instead of the whole sidecar')
    .action(async (folder, { shortest: isShortest = false, from }) => {
      // commander gives the options of a count to `lab`, wherever they stand: refuse them here.
      const typed = lab.options.filter(option => lab.getOptionValueSource(option.attributeName()) === 'cli')
      if (typed.length > 0) throw new UsageError(`lab new takes no ${typed[0].long}: leave it out`)
      if (from !== undefined) return await writeDraft(from, context)
      if (folder === undefined) throw new UsageError('lab new: name a new folder, or --from a folder of Pipy scripts')
      context.print((isShortest ? createShortestCopy(folder) : createCopy(folder)).join('\n'))
    })
}

/**
 * Copies the shortest script.
 * @param {string} folder that does not exist
 * @returns {string[]} lines that say what the copy is, and how to count it
 * @throws {UsageError} if the folder exists, cannot be made, or its name has a comma; {BenchError} if the copy fails
 */
function createShortestCopy(folder) {
  copyShortestScript(folder)
  const against = quoteWord(path.relative('', SHORTEST))
  const count = renderCommand('lab', `${quoteFolder(folder)} --against ${against} --link pair --no-parity`)
  return [
    `${folder} is a copy of the shortest script: it takes a request, and passes it on over mTLS, without the checks of a sidecar.`,
    'After a change:',
    `  ${count}   # instructions a request, beside the original`,
  ]
}

/**
 * Copies the kit's scripts, with the tests of their pure parts.
 * @param {string} folder that does not exist
 * @returns {string[]} lines that say what the copy is, and how to test and measure it
 * @throws {UsageError} if the folder exists, cannot be made, or its name has a comma; {BenchError} if the copy fails
 */
function createCopy(folder) {
  const tests = copyKitScripts(folder)
  const named = quoteFolder(folder)
  return [
    `${folder} is a copy of pipy-scripts, with ${tests.join(' and ')} for the parts that run in Node, too.`,
    'After a change:',
    `  node --test ${named}/*.test.mjs                # these tests`,
    `  ${renderCommand('lab', named)}                        # instructions a request, beside pipy-scripts; --watch: on every save`,
    `  ${renderCommand('bench', `--planes pipy,pipy=${named}`)}   # CPU time, memory and latency, beside pipy-scripts`,
  ]
}

/**
 * Quotes the path of a folder for a shell. A relative path begins with `./`, so that a verb takes it for a folder.
 * @param {string} folder
 * @returns {string} without a slash at its end, if it is relative
 */
function quoteFolder(folder) {
  return quoteWord(path.isAbsolute(folder) ? folder : `./${path.normalize(folder).replace(/\/$/, '')}`)
}

/**
 * Finds out how a folder of Pipy scripts is run, by starting them, writes its pipeline.yaml, and prints it.
 * @param {string} typedFolder as the user wrote it
 * @param {Context} context
 * @throws {UsageError} if the folder has one, or no main.js; {BenchError} if there is no Pipy, or it cannot be drafted; the system's
 *   error if it cannot be written; as `withSite`; the signal's reason when it aborts
 */
async function writeDraft(typedFolder, context) {
  const scripts = path.resolve(typedFolder)
  const existingFile = findPipelineFile(scripts)
  if (existingFile !== null)
    throw new UsageError(`lab new --from ${typedFolder}: ${path.relative('', existingFile)} is there already`)
  if (!existsSync(path.join(scripts, 'main.js')))
    throw new UsageError(`lab new --from ${typedFolder}: it has no main.js`)
  await withSite({ target: 'local', cpu: 'none' }, context, async site => {
    const pipy = await site.findTool(pipyTool)
    if ('missing' in pipy) throw new BenchError(pipy.missing)
    const folder = path.join(site.ledger.folder, 'look')
    const text = renderDraft(await draftPipeline({ site, scripts, pipy, folder, signal: context.signal }))
    const file = path.join(scripts, PIPELINE_FILE)
    writeFileSync(file, text)
    context.print(`${path.relative('', file)}:\n${text.trimEnd().replaceAll(/^/gm, '  ')}`)
    context.print(`Instructions a request:\n  ${renderCommand('lab', quoteFolder(typedFolder))}`)
  })
}
