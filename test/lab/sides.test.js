import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it, vi } from 'vitest'
import { chooseOldSide, openOldSide, readSide } from '../../src/lab/sides.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('sides-test')

it('scripts are held against those of the kit, and those of the kit against the last commit', () => {
  expect(chooseOldSide(null, 'pipy-scripts')).toBe('git:HEAD')
  expect(chooseOldSide(null, 'bench/pipy-shortest')).toBe(path.resolve('pipy-scripts'))
  expect(chooseOldSide('git:main', 'pipy-scripts')).toBe('git:main')
})

/** @param {string} scripts @param {string} ref of git */
function findIn(scripts, ref) {
  return openOldSide({ scripts, against: `git:${ref}`, into: path.join(folder, ref, scripts) })
}

it('a commit gives the scripts as they are in it', async () => {
  const scripts = path.join(folder, 'HEAD', 'pipy-scripts')
  expect(await findIn('pipy-scripts', 'HEAD')).toEqual({
    label: 'pipy-scripts in HEAD',
    scripts,
    profile: null,
    pipeline: null,
  })
  expect(readFileSync(path.join(scripts, 'main.js'), 'utf8')).toContain('listen(config.inbound')
})

it('a commit that is not there, or does not have them, is named', () =>
  expect(findIn('pipy-scripts', 'no-such-commit')).rejects.toThrow(
    /git has no pipy-scripts in no-such-commit: .*; name a commit that has it, or a folder: --against FOLDER/,
  ))

it('a commit whose scripts have no main.js is named, and not the folder that they were taken to', () =>
  expect(findIn('docs', 'HEAD')).rejects.toThrow('docs in HEAD has no main.js; name a commit that has it'))

it('a commit that looks like an option is refused', () =>
  expect(findIn('pipy-scripts', '--list')).rejects.toThrow(
    'git has no pipy-scripts in --list: fatal: not a valid object name',
  ))

it('a git that fails without a word is named with how it ended', async () => {
  const bin = path.join(folder, 'bin')
  mkdirSync(bin)
  writeFileSync(path.join(bin, 'git'), '#!/bin/sh\nexit 3\n', { mode: 0o755 })
  vi.stubEnv('PATH', bin)
  await expect(findIn('pipy-scripts', 'HEAD')).rejects.toThrow(
    'git has no pipy-scripts in HEAD: Command failed with exit code 3: git',
  )
})

it('without git, the error says that git is missing', async () => {
  vi.stubEnv('PATH', path.join(folder, 'none'))
  await expect(findIn('pipy-scripts', 'HEAD')).rejects.toThrow(
    'pipy-scripts in HEAD needs git, which is not installed; name a folder: --against FOLDER',
  )
})

it('a folder without main.js is refused', () => {
  expect(() => readSide('docs')).toThrow(/docs has no main\.js: name a folder of Pipy scripts/)
})

it('scripts of a mesh are known by a file of theirs, in its checkout too, and run as the mesh deploys them', () => {
  const checkout = path.join(folder, 'fsm')
  const scripts = path.join(checkout, 'pkg/sidecar/v1/providers/pipy/repo/codebase')
  mkdirSync(path.join(scripts, 'modules'), { recursive: true })
  writeFileSync(path.join(scripts, 'modules/inbound-main.js'), '')
  expect(readSide(checkout)).toMatchObject({ scripts, profile: 'fsm' })
  expect(readSide(scripts)).toMatchObject({ scripts, profile: 'fsm' })
  expect(readSide('pipy-scripts').profile).toBeNull()
})
