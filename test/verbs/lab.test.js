import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { BenchError } from '../../src/lib/errors.js'
import { countAndTimeSides, listBenchArguments } from '../../src/verbs/lab-time.js'
import { countAtEachSave } from '../../src/verbs/lab-watch.js'
import { cli } from '../fakes/cli.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('watch-test')

/**
 * Watches the folder with a count of the new side that is made up, and stops at the nth wait for a save.
 * @param {{ count: (nth: number, signal: AbortSignal) => Promise<unknown>, assertParity?: () => Promise<void>, nth?: number }} options
 */
async function watchWith({ count, assertParity, nth = 1 }) {
  const stop = new AbortController()
  /** @type {string[]} */
  const said = []
  /** @type {unknown[]} */
  const results = []
  let counts = 0
  const lab = {
    count: (/** @type {string} */ side, /** @type {AbortSignal} */ signal) =>
      side === 'old' ? Promise.resolve('the old side') : count(++counts, signal),
    assertParity,
    assertServes: async () => {},
  }
  const watching = countAtEachSave({
    ...{ lab: /** @type {any} */ (lab), folder, hasParity: assertParity !== undefined, signal: stop.signal },
    printCounts: async sides => void results.push(sides.new),
    say: line => {
      said.push(line)
      const waits = said.filter(one => one.includes('waiting for a save'))
      if (waits.length === nth) stop.abort(new BenchError('interrupted'))
    },
  })
  await expect(watching).rejects.toThrow('interrupted')
  return { said, results }
}
const main = path.join(folder, 'main.js')
const save = (/** @type {string} */ text) => writeFileSync(main, text)

it('--watch counts again after a save, despite dangling links of editors', async () => {
  save('1')
  const lock = path.join(folder, 'nowhere.js')
  symlinkSync('nowhere', lock)
  const count = async (/** @type {number} */ nth) => {
    if (nth === 1) setTimeout(save, 100, '2')
    return nth
  }
  const { results } = await watchWith({ count, nth: 2 })
  rmSync(lock)
  expect(results).toEqual([1, 2])
})

it('a save during a count ends it, and the scripts are counted again as they are then', async () => {
  save('1')
  const count = async (/** @type {number} */ nth, /** @type {AbortSignal} */ signal) => {
    if (nth > 1) return readFileSync(main, 'utf8')
    save('2')
    await delay(20_000, undefined, { signal })
  }
  const { results, said } = await watchWith({ count })
  expect(results).toEqual(['2'])
  expect(said[0]).toMatch(/^saved during a count, which ended after \d\.\d s: counting again$/)
})

it.each([
  ['the count', () => 'of both'],
  [
    'an error',
    () => {
      throw new BenchError('half a script does not start')
    },
  ],
])('%s of scripts that were saved at its end is dropped', async (_, end) => {
  save('1')
  const count = async (/** @type {number} */ nth) => {
    if (nth > 1) return readFileSync(main, 'utf8')
    save('2')
    return end()
  }
  const { results, said } = await watchWith({ count })
  expect(results).toEqual(['2'])
  expect(said).toHaveLength(2)
  expect(said[0]).toMatch('saved during a count')
})

it('a count is shown before the equal-work check begins, which then says whether it was of equal work', async () => {
  save('1')
  /** @type {string[]} */
  const done = []
  const count = async (/** @type {number} */ nth) => {
    await delay(100)
    done.push('count')
    return nth
  }
  const passed = await watchWith({ count, assertParity: async () => void done.push('check') })
  // The check would take the CPU of what is counted.
  expect(done).toEqual(['count', 'check'])
  expect(passed.results).toEqual([1])
  expect(passed.said.slice(0, 2)).toEqual(['running the equal-work check', 'equal work: passed'])
  const assertParity = async () => {
    throw new BenchError('parity-answers: 45 of 46')
  }
  const { said, results } = await watchWith({ count: async nth => nth, assertParity })
  expect(results).toEqual([1])
  expect(said[1]).toBe('the count above is of other work: parity-answers: 45 of 46')
})

it('scripts that do not serve say so before the old side is counted', async () => {
  save('1')
  /** @type {string[]} */
  const done = []
  const stop = new AbortController()
  const lab = {
    count: async (/** @type {string} */ side) => done.push(`count ${side}`),
    assertServes: async (/** @type {string} */ side) => {
      done.push(`start ${side}`)
      if (side === 'new' && readFileSync(main, 'utf8') === '1') throw new BenchError('unexpected token')
    },
  }
  const watching = countAtEachSave({
    ...{ lab: /** @type {any} */ (lab), folder, hasParity: false, signal: stop.signal, printCounts: async () => {} },
    say: line => {
      done.push(line.replace(/^.*waiting/, 'waiting').replace(/ in .*/, ''))
      if (done.filter(one => one.startsWith('waiting')).length === 2) stop.abort(new BenchError('interrupted'))
      else if (line.includes('waiting')) setTimeout(save, 50, '2')
    },
  })
  await expect(watching).rejects.toThrow('interrupted')
  expect(done.slice(0, 4)).toEqual(['start new', 'unexpected token', 'waiting for a save', 'start new'])
  expect(done.slice(4).sort()).toEqual(['count new', 'count old', 'start old', 'waiting for a save'])
})

it('files that an editor writes beside the scripts end no count', async () => {
  save('1')
  const count = async (/** @type {number} */ nth, /** @type {AbortSignal} */ signal) => {
    for (const name of ['.main.js.swp', '#main.js#', 'main.js~']) writeFileSync(path.join(folder, name), `${nth}`)
    await delay(700, undefined, { signal })
    return nth
  }
  const { results } = await watchWith({ count })
  expect(results).toEqual([1])
})

it.each([
  'count',
  'printCounts',
])('--watch leaves nothing that keeps the process alive if to %s fails', async failing => {
  const script = `
    import { countAtEachSave } from './src/verbs/lab-watch.js'
    const fail = () => Promise.reject(new Error('no space left'))
    const made = { assertServes: async () => {}, count: async () => [], printCounts: async () => {}, ${failing}: fail }
    await countAtEachSave({ lab: made, printCounts: made.printCounts, folder: ${JSON.stringify(folder)}, hasParity: false,
      signal: new AbortController().signal, say: () => {} }).catch(error => console.log(error.message))`
  const argv = ['--input-type=module', '--eval', script]
  const { stdout, timedOut } = await execa('node', argv, { timeout: 10_000, reject: false })
  expect({ stdout, timedOut }).toEqual({ stdout: 'no space left', timedOut: false })
})

it.each([
  ['twice', ['--pipy', '/usr/bin/pipy', '--pipy', '/opt/pipy']],
  ['on both sides', ['--against', 'pipy-scripts/']],
])('--watch is refused if the saved scripts run %s', async (_, argv) => {
  expect((await cli('lab', '--watch', ...argv)).stderr).toMatch(
    /--watch counts the old side once, and .*pipy-scripts would be on both sides: name other scripts with --against/,
  )
})

it.each([
  ['--watch', '--watch'],
  ['--requests', '--requests', '500'],
  ['--threshold', '--threshold', 'new/old instructions <= 1.01'],
])('--profile is refused beside %s', async (name, ...argv) => {
  expect((await cli('lab', '--profile', ...argv)).stderr).toContain(
    `--profile samples a load: ${name} belongs to a count, leave one of them out`,
  )
})

it('--time with two programs is refused beside --against, which it would ignore', async () => {
  const argv = ['--time', '--pipy', '/usr/bin/pipy', '--pipy', '/opt/pipy', '--against', 'git:HEAD']
  expect((await cli('lab', ...argv)).stderr).toContain(
    '--time with --pipy runs the same scripts on both programs: leave out --against git:HEAD',
  )
})

it('--time measures the old scripts that the count has taken from git', async () => {
  const side = { label: 'pipy-scripts', scripts: path.resolve('pipy-scripts'), profile: null, pipeline: null }
  /** @type {string[]} */
  const folders = []
  const count = async (/** @type {string} */ into) => folders.push(into)
  const timed = countAndTimeSides(
    { side, link: ['pair'], pipy: [], parity: true, count },
    /** @type {any} */ ({ say: () => {} }),
  )
  await expect(timed).rejects.toThrow(/--planes pipy=\S+: \S+ does not exist/)
  expect(folders.map(into => path.basename(into))).toEqual(['git-HEAD'])
})

it('--time compares the new program with the old one, which --pipy names first', async () => {
  const side = { label: 'pipy-scripts', scripts: path.resolve('pipy-scripts'), profile: null, pipeline: null }
  /** @type {string[]} */
  const lines = []
  const timed = countAndTimeSides(
    { side, link: ['pair'], pipy: ['/nowhere/old', '/nowhere/new'], parity: true, count: async () => {} },
    /** @type {any} */ ({ say: (/** @type {string} */ line) => lines.push(line) }),
  )
  // Choices of planes are checked in order.
  await expect(timed).rejects.toThrow('--planes pipy=/nowhere/new: /nowhere/new does not exist')
})

it('--time measures with the payload and the features that were counted', () => {
  const options = { planes: ['pipy=./mine', 'pipy'], link: ['pair', 'gateway-ratings'] }
  expect(listBenchArguments(options).join(' ')).toBe('cost --planes pipy=./mine,pipy --link pair')
  expect(listBenchArguments({ ...options, requestAxes: { method: 'PUT', responseBytes: 0 } }).slice(-4)).toEqual([
    ...['--method', 'PUT', '--response', '0'],
  ])
  expect(listBenchArguments({ ...options, payload: 16384, features: 'access-log' }).slice(-4)).toEqual([
    ...['--payload', '16384B', '--features', 'access-log'],
  ])
})
