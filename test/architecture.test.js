import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

const IMPORT = /^(?:import|export)[^'"]*?from '([^']+)'|^import '([^']+)'|import\('([^']+(?<!\.ts))'\)/gm

// Planning, rendering, statistics, gates, summaries and reports take plain data and give plain data.
const PURE = [
  /^src\/(plan|experiment|topology|validate|gates|stats|summarise|applications|schema-version|sidecar-contract)\.js$/,
  /^src\/(agree|arms|axes|calibration|changes|claims|compare|compare-runs|fits|match-runs|measures|placement|quantities|recovery|searches|size|status|thresholds)\.js$/,
  /^src\/(claims|searches)\//,
  /^src\/live\/(bounded|results|sidecars|state|words)\.js$/,
  /^src\/parity\/(corpus|rows)\.js$/,
  /^src\/dataplanes\//,
  /^src\/report\//,
  /^src\/loads\/k6\/(index|summary|tool)\.js$/,
  /^src\/lib\/(certificate-files|errors|group-by|nearest|random|turns|version)\.js$/,
  /^src\/targets\/kubernetes\/(manifests|messages|observations|pod-status)\.js$/,
]
const isPure = (/** @type {string} */ file) => PURE.some(pattern => pattern.test(file))
const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter(file => file.endsWith('.js'))
  .map(file => `src/${file.split(path.sep).join('/')}`)

/** @param {string} file */
function importsOf(file) {
  return [...readFileSync(file, 'utf8').matchAll(IMPORT)].map(match => {
    const name = match[1] ?? match[2] ?? match[3]
    return name.startsWith('.') ? path.posix.join(path.posix.dirname(file), name) : name
  })
}

describe('what may import what', () => {
  it.each(files.filter(isPure))('%s touches no process, file, clock or randomness', file => {
    for (const name of importsOf(file)) {
      expect(name, `${file} imports ${name}`).not.toMatch(/^node:|^execa$/)
      if (name.startsWith('src/')) expect(isPure(name), `${file} imports ${name}`).toBe(true)
    }
    expect(readFileSync(file, 'utf8')).not.toMatch(
      /\bDate\.now\(|new Date\(|Math\.random\(|performance\.now\(|process\.(env|pid|exit|std)/,
    )
  })

  it.each(files)('%s knows no plane by its name, outside of the planes and the command line', file => {
    if (/dataplanes\/|cli\.js$|tools\/fetch|bench\.js$|applications\.js$/.test(file)) return
    expect(readFileSync(file, 'utf8')).not.toMatch(/plane(\.name)? *[!=]== *'(pipy|envoy)'/)
  })

  it('keeps data planes from each other and from targets', () => {
    for (const file of files.filter(f => /^src\/dataplanes\/[^/]+\//.test(f))) {
      const [, , own] = file.split('/')
      for (const name of importsOf(file).filter(n => n.startsWith('src/'))) {
        expect(name, file).toMatch(new RegExp(`^src/(lib/|types|dataplanes/${own}/)`))
      }
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
