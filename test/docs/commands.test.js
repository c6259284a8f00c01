import { describe, expect, it } from 'vitest'
import { createProgram } from '../../src/verbs/program.js'
import { readCommands } from './read-commands.js'

const program = await createProgram(/** @type {any} */ ({}))
const verbs = new Map(program.commands.map(command => [command.name(), command]))

describe('the documentation', () => {
  it.each(
    readCommands().filter(({ argv }) => argv[1] === 'src/cli.js'),
  )('$where: `$text` has a verb and options that there are', ({ argv: [, , verb, ...words] }) => {
    if (verb === undefined || verb.startsWith('-')) return
    expect([...verbs.keys()]).toContain(verb)
    const verbCommand = verbs.get(verb)
    // A verb below it, such as that of `lab new`, has options of its own.
    const { options: known = [] } =
      verbCommand?.commands.find(command => command.name() === words[0]) ?? verbCommand ?? {}
    const options = known.flatMap(({ short, long }) => [short, long])
    const used = words.filter(word => /^--?[a-z]/.test(word)).map(word => word.split('=')[0])
    expect(used.filter(name => name !== '--help' && !options.includes(name))).toEqual([])
  })
})
