import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { dataPlanes } from '../src/dataplanes/registry.js'

// What each folder of src/ may import beside itself and lib/. Nothing runs back up.
const MAY_IMPORT = {
  lib: [],
  model: [],
  node: [],
  balance: ['model'],
  dataplanes: ['model'],
  loads: ['model'],
  tools: [],
  judge: ['model'],
  services: ['model', 'dataplanes', 'balance'],
  plan: ['model', 'judge', 'services'],
  search: ['model', 'judge'],
  records: ['model', 'judge'],
  targets: ['model', 'node', 'tools'],
  run: ['model', 'plan', 'search', 'services', 'judge', 'records', 'node'],
  analysis: ['model', 'search', 'judge', 'records'],
  report: ['model', 'analysis', 'search', 'judge'],
  live: ['model', 'judge', 'report'],
  lab: ['model', 'node', 'run', 'report'],
  verbs: ['*'],
  'cli.js': ['verbs'],
}
// No files, processes, clock or randomness.
const PURE = ['model', 'balance', 'plan', 'services', 'judge', 'search', 'analysis', 'report', 'dataplanes']

const IMPORT = /^(?:import|export)[^'"]*?from '([^']+)'|^import '([^']+)'|await import\('([^']+)'\)/gm
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.js'))
  .map(file => `src/${file.split(path.sep).join('/')}`)

describe('what may import what', () => {
  it('has every folder of src/ in its table', () => {
    expect(Object.keys(MAY_IMPORT).sort()).toEqual(readdirSync('src').sort())
  })

  it.each(files.filter(file => folderOf(file) !== 'verbs'))('%s imports what its folder may', file => {
    const may = [folderOf(file), 'lib', ...MAY_IMPORT[/** @type {'lib'} */ (folderOf(file))]]
    const own = importsOf(file).filter(name => name.startsWith('src/'))
    expect(own.filter(name => !may.includes(folderOf(name)))).toEqual([])
  })

  it.each(
    files.filter(file => PURE.includes(folderOf(file))),
  )('%s touches no process, file, clock or randomness', file => {
    expect(importsOf(file).filter(name => /^node:|^execa$/.test(name))).toEqual([])
    expect(readFileSync(file, 'utf8')).not.toMatch(
      /\bDate\.now\(|new Date\(\)|Math\.random\(|performance\.now\(|process\.(env|pid|exit|std)/,
    )
  })

  it('needs no package in node/, which also runs in pods', () => {
    for (const file of files.filter(f => folderOf(f) === 'node'))
      expect(
        importsOf(file).filter(name => !/^(src\/|node:)/.test(name)),
        file,
      ).toEqual([])
  })

  it.each(files)('%s knows no plane by its name, outside of the planes and the command line', file => {
    if (/dataplanes\/|cli\.js$|tools\/fetch|bench\.js$|applications\.js$/.test(file)) return
    const names = dataPlanes.flatMap(({ name, tool }) => (tool ? name : [])).join('|')
    expect(readFileSync(file, 'utf8')).not.toMatch(new RegExp(`plane(\\.name)? *[!=]== *'(${names})'`))
  })

  it('keeps data planes from each other', () => {
    for (const file of files.filter(f => /^src\/dataplanes\/[^/]+\//.test(f))) {
      const [, , own] = file.split('/')
      const others = importsOf(file).filter(name => name.startsWith('src/dataplanes/') && name.split('/')[2] !== own)
      expect(others, file).toEqual([])
    }
  })

  it('never imports the scripts that other engines run', () => {
    for (const file of files) expect(importsOf(file).join()).not.toMatch(/pipy-scripts|echo\/|bench\/k6/)
  })

  it('writes to stdout and sets the exit status in cli.js only', () => {
    for (const file of files.filter(f => f !== 'src/cli.js' && f !== 'src/node/agent/main.js')) {
      expect(readFileSync(file, 'utf8'), file).not.toMatch(
        /process\.stdout|process\.exitCode|process\.exit\(|console\./,
      )
    }
  })
})

/** @param {string} file of src/ */
function folderOf(file) {
  return file.split('/')[1]
}

/** @param {string} file */
function importsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(match => {
    const name = match[1] ?? match[2] ?? match[3]
    return name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name
  })
}
