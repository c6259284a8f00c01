import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { EXIT, EXIT_MEANINGS } from '../../src/lib/exit-status.js'
import { HELP } from '../../src/verbs/help.js'

describe('--help', { timeout: 60_000 }, () => {
  it('shows two examples of every verb, and how it ends where that matters', async () => {
    const { stdout } = await execa('node', ['src/cli.js', '--help'])
    const verbs = [...stdout.matchAll(/^ {2}(?!help)([a-z]+) [[<]/gm)].map(([, verb]) => verb)
    expect(Object.keys(HELP)).toEqual(verbs)
    for (const [verb, { examples }] of Object.entries(HELP)) {
      expect(examples).toHaveLength(2)
      for (const [command] of examples) expect(command).toContain(` ${verb}`)
    }
    const bench = await execa('node', ['src/cli.js', 'bench', '--help'])
    for (const [status, meaning] of Object.entries(EXIT_MEANINGS))
      expect(bench.stdout).toContain(`  ${status.padEnd(4)} ${meaning}`)
  })

  it('has a meaning for every exit status', () => {
    expect(Object.keys(EXIT_MEANINGS).map(Number)).toEqual(Object.values(EXIT))
  })
})
