import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadPlanes } from '../src/dataplanes/registry.js'
import { readAgentCode } from '../src/targets/kubernetes/files.js'

const dataPlanes = Object.values(await loadPlanes())

// The folders that each folder of src/ may import beside itself and lib/: files and types alike. Nothing runs back up.
// `kinds` is the part of each kind with effects; the rest of a kind is pure, and what judges and reports runs may read it.
// `kinds/judge` is what a kind judges one record by.
const MAY_IMPORT = {
  lib: [],
  model: [],
  node: ['model'],
  // The program beside the services, here and in a pod: its procedures are those of node and of parity's part.
  agent: ['model', 'node', 'parity/beside'],
  // For the services of a run, and flawed ones that the equal-work check shows.
  certificates: ['model'],
  // Run beside proxies that take their configuration from nothing else.
  'control-planes': ['model'],
  'parity/beside': ['model', 'node'],
  'parity/verdict': ['model'],
  dataplanes: ['model'],
  loads: ['model'],
  tools: ['model'],
  // One record, without the tables of all kinds: these are above what kinds judge by.
  'judge/gates': ['model'],
  'judge/record': ['model', 'judge/gates'],
  'kinds/judge': ['model', 'judge/record', 'judge/gates'],
  judge: ['model', 'judge/record', 'judge/gates', 'kinds/judge'],
  // What a run says, as data: kinds make it, and reports render it.
  answer: ['model', 'judge'],
  services: ['model', 'dataplanes'],
  // An access log becomes a mix of requests.
  traffic: ['model'],
  // What cannot be asked together, before a run is planned.
  request: ['model', 'judge', 'kinds/pure', 'kinds/registry', 'parity/verdict'],
  plan: ['model', 'judge', 'services', 'kinds/pure', 'kinds/registry', 'parity/verdict', 'request'],
  'kinds/pure': ['model', 'judge', 'answer', 'services', 'kinds/judge', 'kinds/registry'],
  records: ['model', 'judge'],
  targets: ['model', 'node', 'agent', 'tools'],
  run: ['model', 'plan', 'services', 'judge', 'kinds/judge', 'records', 'node', 'certificates', 'parity/verdict'],
  // Called by a run through an interface (run/kind.js).
  parity: ['model', 'services', 'judge', 'node', 'certificates', 'parity/beside', 'parity/verdict', 'run'],
  kinds: ['model', 'plan', 'services', 'judge', 'node', 'kinds/judge', 'kinds/pure', 'kinds/registry', 'run'],
  // Each kind as one object, which loads what runs and what reports it when that is asked for.
  'kinds/registry': ['model', 'judge', 'answer', 'kinds/pure', 'kinds', 'run'],
  // Kinds that compute alone are opened by verbs only.
  'kinds/computed': ['model', 'answer', 'records', 'analysis', 'report', 'kinds/pure', 'kinds/registry'],
  analysis: ['model', 'kinds/judge', 'kinds/pure', 'kinds/registry', 'judge', 'records', 'parity/verdict'],
  report: ['model', 'answer', 'analysis', 'kinds/judge', 'kinds/pure', 'kinds/registry', 'judge', 'parity/verdict'],
  live: ['model', 'judge', 'kinds/judge', 'analysis', 'report', 'run'],
  lab: ['model', 'answer', 'node', 'run', 'report', 'tools', 'dataplanes'],
  // Sidecars that run already, from a Prometheus.
  production: ['model', 'answer', 'report'],
  prepare: ['*'],
  verbs: ['*'],
  'cli.js': ['verbs'],
}
// No files, processes, clock or randomness.
const PURE =
  'model request traffic plan services judge judge/record judge/gates answer kinds/judge kinds/pure kinds/registry parity/verdict analysis report dataplanes'.split(
    ' ',
  )

const WITH_EFFECTS = /^src\/kinds\/[^/]+\/(course|phases)\.js$/
const KINDS = /^src\/kinds\/(registry|sections|[^/]+\/index)\.js$/
const COMPUTED = /^src\/kinds\/(computed|balance\/(document|records))\.js$/
const JUDGING = /^src\/kinds\/(parts|[^/]+\/(numbers|([a-z]+-)?quantities|gates))\.js$/
const IMPORT = /^(?:import|export)[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+)'\)(?!\.)/gm
const STATIC_IMPORT = /^(?:import|export)[^'"]*?from '([^']+)'|^import '([^']+)'/gm
const TYPE_IMPORT = /@import [^'"]*?from '([^']+)'|import\('([^']+)'\)\./g
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => /\.(js|ts)$/.test(file))
  .map(file => `src/${file.split(path.sep).join('/')}`)

describe('what may import what', () => {
  it('has every folder of src/ in its table', () => {
    const known = Object.keys(MAY_IMPORT).map(name => name.split('/')[0])
    expect([...new Set(known)].sort()).toEqual(readdirSync('src').sort())
  })

  it.each(files.filter(file => !mayImport(file).includes('*')))('%s imports what its folder may', file => {
    const imports = [...importsOf(file), ...typeImportsOf(file)].filter(name => name.startsWith('src/'))
    expect(imports.filter(name => !mayImport(file).includes(folderOf(name)))).toEqual([])
  })

  it('keeps prepare/ from the verbs', () => {
    for (const file of files.filter(f => folderOf(f) === 'prepare'))
      expect(
        importsOf(file).filter(name => folderOf(name) === 'verbs'),
        file,
      ).toEqual([])
  })

  it('has no circle of layers, but for what is loaded when it is asked for', () => {
    expect(findCircleOfLayers()).toEqual([])
  })

  it('has no circle of files', () => {
    expect(findCircle()).toEqual([])
  })

  it.each(['kinds', 'dataplanes'])('keeps the folders of src/%s/ from each other', folder => {
    for (const file of files.filter(f => f.startsWith(`src/${folder}/`) && f.split('/').length > 3)) {
      const [, , subfolder] = file.split('/')
      const others = importsOf(file).filter(
        name => name.startsWith(`src/${folder}/`) && name.split('/')[2] !== subfolder,
      )
      expect(others, file).toEqual([])
    }
  })

  const pure = files.filter(file => PURE.includes(folderOf(file)))
  it.each(pure)('%s touches no process, file, clock or randomness', file => {
    expect(importsOf(file).filter(name => /^node:|^execa$/.test(name))).toEqual([])
    expect(readFileSync(file, 'utf8')).not.toMatch(
      /\bDate\.now\(|new Date\(\)|Math\.random\(|performance\.now\(|process\.(env|pid|exit|std)/,
    )
  })

  it('ships into pods all that the agent there imports', () => {
    const shipped = Object.keys(readAgentCode())
    /** @type {Set<string>} */
    const needed = new Set()
    const follow = (/** @type {string} */ file) => {
      if (needed.has(file)) return
      needed.add(file)
      importsOf(file)
        .filter(name => name.startsWith('src/'))
        .forEach(follow)
    }
    follow('src/agent/main.js')
    expect([...needed]).toContain('src/parity/beside/probe.js')
    expect([...needed].filter(file => !shipped.includes(file))).toEqual([])
  })

  it('needs no package if it also runs in pods', () => {
    for (const file of files.filter(f => ['node', 'agent', 'parity/beside'].includes(folderOf(f))))
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

  it('never imports the scripts that other engines run', () => {
    for (const file of files) expect(importsOf(file).join()).not.toMatch(/pipy-scripts|echo\/|bench\/k6/)
  })

  it('writes to stdout and sets the exit status in cli.js only', () => {
    for (const file of files.filter(f => f !== 'src/cli.js' && f !== 'src/agent/main.js')) {
      expect(readFileSync(file, 'utf8'), file).not.toMatch(
        /process\.stdout|process\.exitCode|process\.exit\(|console\./,
      )
    }
  })
})

/** @param {string} file of src/ @returns {string} its line of the table */
function folderOf(file) {
  const [, folder, inner] = file.split('/')
  if (folder === 'kinds') {
    if (WITH_EFFECTS.test(file)) return 'kinds'
    if (KINDS.test(file)) return 'kinds/registry'
    if (COMPUTED.test(file)) return 'kinds/computed'
    return JUDGING.test(file) ? 'kinds/judge' : 'kinds/pure'
  }
  return Object.hasOwn(MAY_IMPORT, `${folder}/${inner}`) ? `${folder}/${inner}` : folder
}

/** @param {string} file */
function mayImport(file) {
  const folder = folderOf(file)
  /** @type {string[]} */
  const names = MAY_IMPORT[/** @type {'lib'} */ (folder)]
  return [folder, 'lib', ...names, ...(names.includes('judge') ? ['judge/record', 'judge/gates'] : [])]
}

/** @returns {string[]} the layers of a circle of imports, in order; empty: there is none */
function findCircleOfLayers() {
  /** @type {Map<string, Set<string>>} */
  const above = new Map()
  for (const file of files) {
    const layer = folderOf(file)
    const names = findNames(file, STATIC_IMPORT).filter(name => name.startsWith('src/'))
    above.set(layer, new Set([...(above.get(layer) ?? []), ...names.map(folderOf)]))
  }
  /** @type {(layer: string, path: string[]) => string[]} */
  const visit = (layer, path) => {
    if (path.includes(layer)) return [...path.slice(path.indexOf(layer)), layer]
    for (const name of above.get(layer) ?? []) {
      const circle = name === layer ? [] : visit(name, [...path, layer])
      if (circle.length > 0) return circle
    }
    return []
  }
  for (const layer of above.keys()) {
    const circle = visit(layer, [])
    if (circle.length > 0) return circle
  }
  return []
}

/** @param {string} file */
function importsOf(file) {
  return findNames(file, IMPORT)
}

/** @param {string} file */
function typeImportsOf(file) {
  return findNames(file, TYPE_IMPORT)
}

/** @param {string} file @param {RegExp} pattern */
function findNames(file, pattern) {
  return [...readFileSync(file, 'utf8').matchAll(pattern)].map(match => {
    const name = match[1] ?? match[2] ?? match[3]
    return name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name
  })
}

/** @returns {string[]} the files of a circle of imports, in order; empty: there is none */
function findCircle() {
  /** @type {Set<string>} */
  const done = new Set()
  /** @type {(file: string, above: string[]) => string[]} */
  const visit = (file, above) => {
    if (above.includes(file)) return [...above.slice(above.indexOf(file)), file]
    if (done.has(file) || !files.includes(file)) return []
    // What a kind loads when it is asked for may import the registry.
    for (const name of folderOf(file) === 'kinds/registry' ? findNames(file, STATIC_IMPORT) : importsOf(file)) {
      const circle = visit(name, [...above, file])
      if (circle.length > 0) return circle
    }
    done.add(file)
    return []
  }
  for (const file of files) {
    const circle = visit(file, [])
    if (circle.length > 0) return circle
  }
  return []
}
