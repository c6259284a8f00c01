import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { callSafely } from '../../src/lib/call-safely.js'
import { listPids } from '../../src/node/kernel/proc-files.js'
import { makeFolder } from '../fakes/scratch.js'
import { need } from './real-tools.js'

const LOOK_MS = 500
const folder = makeFolder('keys-test')

it('keys are in a folder of their own while a run lasts, and nowhere else then or later', async context => {
  need(context, 'pipy', 'envoy', 'k6', 'caps')
  const out = path.join(folder, 'run')
  // Of this link k6 has a certificate, too.
  const argv = '--measure capacity --link pair --planes pipy,envoy --profile smoke --cpu 0.25'.split(' ')
  const run = execa('node', ['src/cli.js', 'bench', ...argv, '--out', out], { reject: false })
  let keysFolder = ''
  /** @type {Map<string, { text: string, mode: number }>} */
  const keys = new Map()
  /** @type {number[]} */
  let folderModes = []
  /** @type {Set<string>} */
  const processes = new Set()
  const look = setInterval(() => {
    for (const text of readProcesses()) processes.add(text)
    if (keysFolder !== '') return
    keysFolder = findKeysFolder(out)
    if (keysFolder === '') return
    const files = listFiles(keysFolder)
    for (const file of files.filter(name => name.endsWith('-key.pem')))
      keys.set(file, { text: readFileSync(file, 'utf8'), mode: modeOf(file) })
    folderModes = [...new Set([keysFolder, ...files.map(path.dirname)])].map(modeOf)
  }, LOOK_MS)
  const { stdout, stderr, exitCode } = await run.finally(() => clearInterval(look))
  // 3: what runs beside it has spoiled what could be compared; all programs ran.
  expect([0, 3], stderr).toContain(exitCode)

  expect([...keys.keys()].map(file => path.basename(file))).toEqual(
    expect.arrayContaining(['load-generator-key.pem', 'client-key.pem', 'server-key.pem']),
  )
  expect(new Set([...keys.values()].map(({ mode }) => mode))).toEqual(new Set([0o600]))
  expect(new Set(folderModes)).toEqual(new Set([0o700]))
  expect(existsSync(keysFolder)).toBe(false)

  const patterns = [...keys.values()].flatMap(({ text }) => listForms(text))
  const holds = (/** @type {string} */ text) => patterns.some(pattern => text.includes(pattern))
  // The search finds a key where one is, and was made over everything that it must have seen.
  expect(holds([...keys.values()][0].text)).toBe(true)
  for (const program of ['pipy', 'envoy', 'k6'])
    expect(
      [...processes].some(p => p.includes(program)),
      program,
    ).toBe(true)
  expect([...processes].filter(holds)).toEqual([])
  const files = listFiles(out)
  expect(files.map(file => path.relative(out, file))).toEqual(
    expect.arrayContaining(['manifest.json', 'trials.jsonl', 'summary.json', 'report.html']),
  )
  expect(files.filter(file => file.endsWith('.log')).length).toBeGreaterThan(4)
  expect(files.filter(file => holds(readFileSync(file, 'latin1')))).toEqual([])
  expect(holds(stdout + stderr)).toBe(false)
})

/**
 * What a private key can look like: the lines of its PEM, the PEM in base64, and its number as bytes and as hex.
 * @param {string} pem
 */
function listForms(pem) {
  const lines = pem.split('\n').slice(1, -2)
  // Of a P-256 key in PKCS #8: 36 bytes of structure, then the number's 32.
  const number = Buffer.from(lines.join(''), 'base64').subarray(36, 68)
  const again = Buffer.from(pem).toString('base64').slice(80, 160)
  return [...lines, again, number.toString('latin1'), number.toString('hex'), number.toString('hex').toUpperCase()]
}

/** The command lines and environments of this machine's processes. */
function readProcesses() {
  return listPids().flatMap(pid =>
    ['cmdline', 'environ'].map(file => callSafely(() => readFileSync(`/proc/${pid}/${file}`, 'latin1'), '')),
  )
}

/** Where the rendered configurations of a run say that its keys are; empty before there is one. @param {string} out */
function findKeysFolder(out) {
  for (const file of existsSync(out) ? listFiles(out).filter(name => name.endsWith('.json')) : []) {
    const match = /"([^"]+)\/[^"/]+-key\.pem"/.exec(readFileSync(file, 'utf8'))
    if (match) return match[1]
  }
  return ''
}

/** @param {string} of */
function listFiles(of) {
  return readdirSync(of, { recursive: true, withFileTypes: true }).flatMap(entry =>
    entry.isFile() ? [path.join(entry.parentPath, entry.name)] : [],
  )
}

/** @param {string} file */
function modeOf(file) {
  return statSync(file).mode & 0o777
}
