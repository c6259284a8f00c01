import { Command, CommanderError } from 'commander'
import { describe, expect, it } from 'vitest'
import { AXES, AXIS_NAMES } from '../../src/model/arms.js'
import { addExperimentOptions, addSharedOptions, readAxisOptions } from '../../src/prepare/options.js'
import { createProgram } from '../../src/verbs/program.js'

/** The flags in the help of a verb. @param {...string} words of the command line */
async function listFlags(...words) {
  let printed = ''
  const context = /** @type {any} */ ({ print: (/** @type {string} */ text) => (printed += text), say: () => {} })
  const program = await createProgram(context, words)
  const ended = await program.parseAsync(['node', 'sidecar-bench', ...words]).catch(error => error)
  if (!(ended instanceof CommanderError)) throw ended
  return [...printed.matchAll(/^ {2}(--[a-z0-9-]+)/gm)].map(([, flag]) => flag)
}

/** @param {...string} words */
const parse = (...words) => {
  const quiet = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  const command = addSharedOptions(addExperimentOptions(quiet), 'precision')
  return command.parse(words, { from: 'user' }).opts()
}

const OF_ROLLOUTS = ['--sidecars', '--control-cpu', '--control-memory']
const OF_ROLLOUTS_ALONE = ['--shards', '--assignment', '--sizes', '--remove-shard', '--commit-rate', '--concurrency']
const REQUESTS = '--method --request --request-headers --response --service-time --chunks --traffic'.split(' ')
const UNDER_LOAD = '--cpu --link --rate --users --payload --services --tls --protocol --memory'.split(' ')
const OF_ALL = ['--planes', '--workers', '--profile', '--seed', '--no-pin', '--app', '--target', '--out']

describe('bench --help', () => {
  it('shows the options of the default experiment, which measures under load', async () => {
    const flags = await listFlags('bench', '--help')
    expect(flags).toEqual(
      expect.arrayContaining([...OF_ALL, ...UNDER_LOAD, ...REQUESTS, '--rounds', '--precision', '--features']),
    )
    for (const other of [...OF_ROLLOUTS, ...OF_ROLLOUTS_ALONE, '--real', '--p99']) expect(flags).not.toContain(other)
  })

  it('shows those of a rollout, wherever its name stands', async () => {
    const flags = await listFlags('bench', 'rollout', '--help')
    expect(flags).toEqual(
      expect.arrayContaining([...OF_ALL, ...OF_ROLLOUTS, ...OF_ROLLOUTS_ALONE, '--real', '--rounds', '--control']),
    )
    for (const other of [...UNDER_LOAD, '--features', '--precision', '--p99']) expect(flags).not.toContain(other)
    expect(await listFlags('bench', '--help', 'rollout')).toEqual(flags)
    expect(await listFlags('bench', '--planes', 'pipy', 'rollout', '--help')).toEqual(flags)
  })

  it('shows those of a growth, and of a search', async () => {
    const growth = await listFlags('bench', 'grow', '--help')
    expect(growth).toEqual(expect.arrayContaining([...OF_ALL, ...OF_ROLLOUTS]))
    for (const other of [...UNDER_LOAD, ...OF_ROLLOUTS_ALONE, '--real', '--p99']) expect(growth).not.toContain(other)
    const search = await listFlags('plan', 'knee', '--help')
    expect(search).toEqual(expect.arrayContaining([...UNDER_LOAD, '--p99']))
    for (const other of [...OF_ROLLOUTS, '--rounds', '--precision', '--control']) expect(search).not.toContain(other)
  })

  it('shows of idle sidecars no load, and a control if a configuration changes', async () => {
    const idle = await listFlags('bench', 'idle', '--help')
    for (const other of [...REQUESTS, '--rate', '--users', '--payload', '--precision', '--control', '--services'])
      expect(idle).not.toContain(other)
    expect(idle).toEqual(expect.arrayContaining(['--pairs', '--workers', '--rounds']))
    expect(await listFlags('bench', 'reload', '--help')).toContain('--control')
  })

  it('shows of what is computed the options that it takes', async () => {
    expect(await listFlags('bench', 'balance', '--help')).toEqual(['--seed', '--out', '--json', '--details'])
  })
})

describe('addExperimentOptions', () => {
  const optional = AXIS_NAMES.filter(name => AXES[name].option)

  it('has an option of its own for every axis that has words', () => {
    const command = addExperimentOptions(new Command())
    const flags = command.options.map(option => option.flags)
    expect(new Set(flags).size).toBe(flags.length)
    for (const name of optional) expect(flags).toContain(AXES[name].option?.flags)
  })

  it('reads the values of axes, whatever the experiment', () => {
    const options = parse(
      ...'cap --rate 100,200 --payload 1KiB --control-cpu 0.5,none --control-memory 64MiB,none'.split(' '),
      ...'--tls plaintext --features metrics+access-log --remove-shard --cpu 0.5 --sidecars 5'.split(' '),
    )
    expect(readAxisOptions(options)).toEqual({
      ratePerSecond: [100, 200],
      payloadBytes: [1024],
      tls: ['plaintext'],
      features: ['access-log+metrics'],
      sidecars: [5],
      controlCpuLimitCores: [0.5, null],
      controlMemoryBytes: [2 ** 26, null],
      isShardRemoved: [true],
    })
    expect(options.cpu).toEqual([0.5])
    expect(readAxisOptions(parse('cap', '--cpu', 'none'))).toEqual({})
    expect(parse('--cpu', 'none').cpu).toBe('none')
  })

  it.each([
    [['--users', '0'], 'a whole number above 0 is needed'],
    [['--users', '28001'], 'at most 28000: they connect from one address'],
    [['--memory', '12 apples'], 'a size such as 64MiB is needed'],
    [['--memory', '0MiB'], 'a size above 0 is needed'],
    [['--cpu', 'much'], 'a positive number of cores is needed'],
    [['--cpu', '0.001'], 'at least 0.01 cores'],
    [['--cpu', '1,none'], 'none is no value of a list: give it alone'],
    [['--neighbour', '0c'], 'a positive number of cores is needed, such as 0.25'],
    [['--tls', 'none'], '"none" is none of plaintext, ecdsa-p256, rsa-2048'],
    [['--features', 'acess-log'], 'unknown feature "acess-log"; did you mean "access-log"?'],
    [['--rate', '5,5'], 'an entry stands twice in the list'],
    [['--rate', '5,'], 'an entry of the list is empty'],
  ])('refuses %j with the reason', (words, reason) => {
    expect(() => parse(...words)).toThrow(reason)
  })
})
