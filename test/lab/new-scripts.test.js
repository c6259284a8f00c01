import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { copyKitScripts } from '../../src/lab/new-scripts.js'
import { createProgram } from '../../src/verbs/program.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('new-scripts-test')

/** @param {string[]} argv */
async function lab(...argv) {
  /** @type {string[]} */
  const printed = []
  const print = (/** @type {string} */ text) => printed.push(text)
  const program = await createProgram(/** @type {any} */ ({ print, say: print }))
  await program.parseAsync(['lab', ...argv], { from: 'user' })
  return printed.join('\n')
}

it("lab new copies the kit's own scripts, with tests that pass by the printed command, outside of the kit", async () => {
  // npm init makes such a package.
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "commonjs" }')
  const mine = path.join(folder, 'my scripts')
  const output = await lab('new', mine)
  for (const name of readdirSync('pipy-scripts'))
    expect(readFileSync(path.join(mine, name), 'utf8')).toBe(readFileSync(path.join('pipy-scripts', name), 'utf8'))
  const [test] = /node --test .*(?=#)/.exec(output) ?? []
  const { stdout } = await execa('bash', ['-c', `${test}`], { cwd: folder })
  expect(stdout).toMatch(/(# |ℹ )pass ([5-9]|\d\d+)\b/)
  expect(output).toContain(`npm run lab -- '${mine}'`)
  expect(output).toContain(`npm run bench -- --planes pipy,pipy='${mine}'`)
})

it('lab new --shortest copies the shortest script, and prints a command that counts its change', async () => {
  const mine = path.join(folder, 'shortest')
  const output = await lab('new', mine, '--shortest')
  expect(readdirSync(mine)).toEqual(['main.js'])
  expect(readFileSync(path.join(mine, 'main.js'), 'utf8')).toBe(readFileSync('bench/pipy-shortest/main.js', 'utf8'))
  expect(output).toContain(`npm run lab -- ${mine} --against bench/pipy-shortest --link pair --no-parity`)
})

it('has tests that fail if its own scripts are wrong', async () => {
  const mine = path.join(folder, 'wrong')
  const tests = copyKitScripts(mine)
  // A test in another form would not be copied.
  expect(tests).toEqual(readdirSync('test/pipy-scripts'))
  const file = path.join(mine, 'router.js')
  writeFileSync(file, readFileSync(file, 'utf8').replace('.toLowerCase()', ''))
  const { exitCode, stdout } = await execa('node', ['--test', path.join(mine, 'router.test.mjs')], { reject: false })
  expect(exitCode).toBe(1)
  expect(stdout).toMatch(/(# |ℹ )fail 1/)
})

it('refuses a folder that exists, that cannot be made, or that bench could not name', async () => {
  const there = path.join(folder, 'there')
  mkdirSync(there)
  await expect(lab('new', there)).rejects.toThrow(
    `lab new ${there}: it exists already; name a new folder in one that exists`,
  )
  expect(readdirSync(there)).toEqual([])
  await expect(lab('new', path.join(folder, 'none', 'mine'))).rejects.toThrow('no such file or directory')
  await expect(lab('new', path.join(folder, 'a,b'))).rejects.toThrow('bench --planes cannot name a folder with a comma')
})

it('takes no option of a count', async () => {
  const mine = path.join(folder, 'mine')
  for (const argv of [
    ['--watch', 'new', mine],
    ['new', mine, '--watch'],
  ])
    await expect(lab(...argv)).rejects.toThrow('lab new takes no --watch: leave it out')
  expect(readdirSync(folder)).not.toContain('mine')
})
