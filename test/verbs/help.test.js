import { describe, expect, it } from 'vitest'
import { EXIT, EXIT_MEANINGS } from '../../src/lib/errors.js'
import { HELP } from '../../src/verbs/help.js'
import { createProgram } from '../../src/verbs/program.js'

describe('--help', () => {
  it('shows two examples of every verb, and how it ends if that matters', async () => {
    let printed = ''
    const program = await createProgram(
      /** @type {any} */ ({ print: (/** @type {string} */ text) => (printed += text) }),
    )
    expect(program.commands.map(command => command.name()).sort()).toEqual(Object.keys(HELP).sort())
    for (const [verb, { examples, statuses }] of Object.entries(HELP)) {
      printed = ''
      program.commands.find(command => command.name() === verb)?.outputHelp()
      expect(examples).toHaveLength(2)
      for (const [words, does] of examples) expect(printed).toContain(`${words}\n      ${does}`)
      for (const status of statuses) expect(printed).toContain(`  ${`${status}`.padEnd(4)} ${EXIT_MEANINGS[status]}`)
    }
    expect(HELP.bench.statuses).toEqual(Object.values(EXIT))
  })

  it('lists the same verbs when it has loaded none of them, or one', async () => {
    const context = /** @type {any} */ ({})
    const [whole, none, one] = await Promise.all([
      createProgram(context),
      createProgram(context, ['--help']),
      createProgram(context, ['plan', '--help']),
    ])
    expect(none.helpInformation()).toBe(whole.helpInformation())
    expect(none.commands.flatMap(command => command.options)).toEqual([])
    const loaded = one.commands.filter(command => command.options.length > 0)
    expect(loaded.map(command => command.name())).toEqual(['plan'])
  })

  it('has a meaning for every exit status', () => {
    expect(Object.keys(EXIT_MEANINGS).map(Number)).toEqual(Object.values(EXIT))
  })
})
