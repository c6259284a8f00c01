import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { compareRuns } from '../../src/analysis/compare-runs.js'
import { summarise } from '../../src/analysis/summarise.js'
import { verifyRun } from '../../src/analysis/verify.js'
import { computeWindow } from '../../src/judge/record/compute-window.js'
import { findFault, manifestSchema, observationSchema, summarySchema, trialSchema } from '../../src/model/schemas.js'
import { readLedgers } from '../../src/node/ledger.js'
import { readTrialObservation } from '../../src/records/raw.js'
import { readRun } from '../../src/records/records.js'
import { createComparisonAnswer } from '../../src/report/comparison.js'
import { renderArmsCsv } from '../../src/report/csv.js'
import { renderJunit } from '../../src/report/junit.js'
import { renderRunText } from '../../src/verbs/answer.js'
import { listRuns } from '../../src/verbs/list-runs.js'
import { openReport } from '../../src/verbs/write-report.js'
import { createFakeLoad, createFakeTarget } from '../fakes/fake-bench.js'
import { runFake } from '../fakes/fake-run.js'
import { mutateJson, mutateText, pick } from './mutate.js'

/**
 * Readers of the documents of a run, alone, and through everything that is said of a run.
 * @import { Parser } from './harness.js' @import { Random } from './mutate.js'
 */

export const RUN_FOLDER = mkdtempSync(path.join(os.tmpdir(), 'fuzz-runs-'))
const whole = path.join(RUN_FOLDER, 'whole')
const folder = path.join(RUN_FOLDER, 'changed')
const load = createFakeLoad()
await runFake({ folder: whole, target: await createFakeTarget() })
cpSync(whole, folder, { recursive: true })
const [first] = readRun(whole).records
const raw = `raw/${first.trial.id}`
// Readers are tried on a run of a few trials: each input is read whole.
const small = path.join(RUN_FOLDER, 'runs/small')
cpSync(path.join(whole, raw), path.join(small, raw), { recursive: true })
for (const name of ['manifest.json', 'summary.json']) cpSync(path.join(whole, name), path.join(small, name))
const lines = readFileSync(path.join(whole, 'trials.jsonl'), 'utf8').split('\n').slice(0, 3)
writeFileSync(path.join(small, 'trials.jsonl'), `${lines.join('\n')}\n`)

const NAMES = [
  ...['manifest.json', 'trials.jsonl', 'summary.json'],
  ...readdirSync(path.join(whole, raw)).map(name => `${raw}/${name}`),
]

/** @typedef {{ name: string, text: string }} Change */

/**
 * Texts of documents and the values of their lines, by the file: reading them takes longer than changing them.
 * @type {Map<string, { text: string, lines: string[], values: unknown[] }>}
 */
const documents = new Map()

/** @param {string} file */
function readDocument(file) {
  const text = readFileSync(file, 'utf8')
  const lines = file.endsWith('.json') ? [text] : text.trimEnd().split('\n')
  return { text, lines, values: /\.jsonl?$/.test(file) ? lines.map(line => JSON.parse(line)) : [] }
}

/** @param {string} from a run @param {string} name of a document @param {Random} random @returns {Change} */
function change(from, name, random) {
  const file = path.join(from, name)
  const document = documents.get(file) ?? readDocument(file)
  documents.set(file, document)
  const { text, lines, values } = document
  if (name.endsWith('.json')) return { name, text: mutateJson(values[0], random) }
  if (!name.endsWith('.jsonl') || random() < 0.2) return { name, text: mutateText(text, random) }
  const at = Math.floor(random() * lines.length)
  return { name, text: `${lines.with(at, mutateJson(values[at], random)).join('\n')}\n` }
}

/** Reads a run with one document changed. @template T @param {string} at @param {() => T} readIt */
function withChange(at, readIt) {
  return (/** @type {Change} */ { name, text }) => {
    const file = path.join(at, name)
    const before = readFileSync(file)
    writeFileSync(file, text)
    try {
      return readIt()
    } finally {
      writeFileSync(file, before)
    }
  }
}

/**
 * @param {string} name of the document @param {() => unknown} readIt @param {Parser['findFault']} check
 * @returns {Parser}
 */
const ofDocument = (name, readIt, check) => ({
  name: name.replace(raw, 'raw'),
  make: random => change(small, name, random),
  parse: withChange(small, readIt),
  findFault: check,
})

/** @param {string} name @param {number} share @param {() => string} say @returns {Parser} */
const ofWhole = (name, share, say) => ({
  name,
  share,
  make: random => change(folder, pick(NAMES, random), random),
  parse: withChange(folder, say),
  findFault: text => (/\[object Object\]|function \w*\(|undefined/.test(text) ? 'it says what no reader knows' : null),
})
const LEDGER = {
  'owner.json': JSON.stringify({ pid: 1, startTicks: 2, pidNamespace: 'pid:[1]', bootId: 'x', command: ['bench'] }),
  'holdings.jsonl':
    '["+","cgroup","/sys/fs/cgroup/a"]\n["+","addresses","127.1.0.0"]\n["-","cgroup","/sys/fs/cgroup/a"]\n',
}
const ledgers = path.join(RUN_FOLDER, 'ledgers')
mkdirSync(path.join(ledgers, 'r1'), { recursive: true, mode: 0o700 })
for (const [name, text] of Object.entries(LEDGER)) writeFileSync(path.join(ledgers, 'r1', name), text)

const findFaultOfRun = (/** @type {ReturnType<typeof readRun>} */ { manifest, records }) =>
  findFault(manifestSchema, manifest) ??
  records.map(record => findFault(trialSchema, record)).find(fault => fault !== null) ??
  null

/** @type {Parser[]} */
export const RUN_PARSERS = [
  {
    name: 'ledger of a run',
    make: random => change(path.join(ledgers, 'r1'), pick(Object.keys(LEDGER), random), random),
    parse: withChange(path.join(ledgers, 'r1'), () => readLedgers(ledgers)),
    findFault: ([{ owner, holdings }]) => {
      const isOwner = owner === null || (Number.isInteger(owner.pid) && Array.isArray(owner.command))
      const isHeld = holdings.every(
        (/** @type {any} */ held) => typeof held.kind === 'string' && typeof held.name === 'string',
      )
      return isOwner && isHeld ? null : 'an owner or a thing that is held is not one'
    },
  },
  ofDocument('manifest.json', () => readRun(small), findFaultOfRun),
  ofDocument('trials.jsonl', () => readRun(small), findFaultOfRun),
  ofDocument(
    'summary.json',
    () => listRuns(path.dirname(small)),
    runs => (runs.length === 1 && runs[0].says !== '' ? null : 'the run is listed'),
  ),
  ...['observation.json', 'samples.jsonl'].map(name =>
    ofDocument(
      `${raw}/${name}`,
      () => {
        const observed = readTrialObservation(small, first.trial.id)
        return { observed, described: observed && computeWindow(observed) }
      },
      ({ observed }) => (observed === null ? null : findFault(observationSchema, observed.observation)),
    ),
  ),
  ofWhole('verify of a run', 0.02, () => verifyRun({ folder, findLoad: () => load }).lines.join('\n')),
  ofWhole('report of a run', 0.02, () => {
    const run = readRun(folder)
    const summary = summarise(run)
    const fault = findFault(summarySchema, JSON.parse(JSON.stringify(summary)))
    if (fault !== null) throw new Error(`summary: ${fault}`)
    return [
      renderRunText({ summary, folder }),
      renderRunText({ summary, folder, details: true }),
      renderArmsCsv(summary),
      renderJunit(summary),
    ].join('\n')
  }),
  ofWhole('documents of a run', 0.005, () => {
    const report = openReport({ folder, summary: summarise(readRun(folder)), claims: [] })
    report.writeHtml()
    return report.markdown()
  }),
  ofWhole('compare with a run', 0.01, () => {
    const [old, next] = [whole, folder].map(at => {
      const { manifest, records } = readRun(at)
      return { folder: at, manifest, records, summary: summarise({ manifest, records }) }
    })
    return JSON.stringify(
      createComparisonAnswer(compareRuns({ old, new: next }, { thresholds: [] }), { old, new: next }),
    )
  }),
]
