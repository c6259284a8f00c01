import { describe, expect, it } from 'vitest'
import { EXIT, EXIT_MEANINGS } from '../../src/lib/exit-status.js'
import { HELP } from '../../src/verbs/help.js'
import { createProgram } from '../../src/verbs/program.js'

describe('--help', () => {
  it('shows two examples of every verb, and how it ends where that matters', async () => {
    let printed = ''
    const program = createProgram(/** @type {any} */ ({ print: (/** @type {string} */ text) => (printed += text) }))
    expect(program.commands.map(command => command.name()).sort()).toEqual(Object.keys(HELP).sort())
    for (const [verb, { examples, statuses }] of Object.entries(HELP)) {
      printed = ''
      program.commands.find(command => command.name() === verb)?.outputHelp()
      expect(examples).toHaveLength(2)
      for (const [command, does] of examples) expect(printed).toContain(`  ${command}\n      ${does}`)
      for (const status of statuses) expect(printed).toContain(`  ${`${status}`.padEnd(4)} ${EXIT_MEANINGS[status]}`)
    }
    expect(HELP.bench.statuses).toEqual(Object.values(EXIT))
  })

  it('has a meaning for every exit status', () => {
    expect(Object.keys(EXIT_MEANINGS).map(Number)).toEqual(Object.values(EXIT))
  })
})
