import path from 'node:path'
import { copyScripts } from '../lab/new-scripts.js'
import { UsageError } from '../lib/errors.js'

/** `lab new`: a copy of the kit's scripts to change, and what can be done with it. @type {import('./program.js').AddVerb} */
export function addLabNew(lab, { print }) {
  lab
    .command('new')
    .description('make a copy of pipy-scripts to change, with the tests of its pure parts')
    .argument('<folder>', 'a new folder, such as my-scripts')
    .action(folder => {
      // Wherever they stand, the options of a count are read by `lab`.
      const given = lab.options.filter(option => lab.getOptionValueSource(option.attributeName()) === 'cli')
      if (given.length > 0) throw new UsageError(`lab new takes no ${given[0].long}: leave it out`)
      print(renderNew(folder, copyScripts(folder)))
    })
}

/** @param {string} folder @param {string[]} tests */
function renderNew(folder, tests) {
  const named = quote(path.isAbsolute(folder) ? folder : `./${path.normalize(folder).replace(/\/$/, '')}`)
  return [
    `${folder} is a copy of pipy-scripts, with ${tests.join(' and ')} for the parts that run in Node, too.`,
    'After a change:',
    `  node --test ${named}/*.test.mjs                # these tests`,
    `  npm run lab -- ${named}                        # instructions a request, beside pipy-scripts; --watch: on every save`,
    `  npm run bench -- --planes pipy,pipy=${named}   # CPU time, memory and latency, beside pipy-scripts`,
  ].join('\n')
}

/** For a shell. @param {string} word */
function quote(word) {
  return /^[\w./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}
