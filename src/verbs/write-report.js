import { listSidecars } from '../judge/record/measures.js'
import { BenchError } from '../lib/errors.js'
import { PAGE, writeAtomically } from '../records/files.js'
import { readSamples } from '../records/raw.js'
import { readRun } from '../records/records.js'
import { roundToFourDigits } from '../report/charts/style.js'
import { renderDecisionPage } from '../report/decision-page.js'
import { createDocument } from '../report/document.js'
import { renderHtml } from '../report/html.js'
import { drawSvg } from '../report/html-page.js'
import { renderMarkdown } from '../report/markdown.js'
import { listCharts } from '../report/section.js'
import { createSidecarSeries, thinSeries } from '../report/series.js'
import { evaluateRunClaims } from './read-claims.js'
import { readPageAssets, readReportFile } from './report-assets.js'

/**
 * The documents of a run, from its records.
 * @import { ClaimsFile } from '../analysis/claims/claims.js'
 * @import { Summary, TrialRecord } from '../model/types.ts'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 * @import { Document } from '../report/document.js'
 */

// Points of all trials together, and of one series: a browser must still open the page of thousands of trials.
const POINTS_MOST = 200_000
const POINTS_OF_SERIES_MOST = 400
const POINTS_OF_SERIES_LEAST = 20
const SERIES_OF_SIDECAR = 2
const DECISION_PAGE = 'decision.html'

/**
 * Creates the document of a run, and functions that render or write it in each format. Files go to the run's folder
 * by default. Sidecars over time are thinned out. Trials without readable samples are not drawn, and the document
 * says so.
 * @param {object} options
 * @param {string} options.folder
 * @param {Summary} options.summary of the same records
 * @param {ClaimsFile[]} [options.claims] the kit's by default
 * @param {ReturnType<typeof readRun>} [options.run] if it was read already
 * @returns document; markdown: renders it; writeHtml, writeSvgs, writeDecision: write files to `out` and return their
 *   paths; write: report.md and report.html
 * @throws {BenchError} if the folder holds no run; as `evaluateRunClaims`; the functions throw it if a file cannot be written
 */
export function openReport({ folder, summary, claims: files, run = readRun(folder) }) {
  const { manifest, records, warnings } = run
  const { series, warnings: seriesWarnings } = readAllSeries(folder, records)
  const document = createDocument({
    manifest,
    summary,
    records,
    claims: evaluateRunClaims(summary, files),
    listSeries: id => series.get(id) ?? [],
    warnings: [...warnings, ...seriesWarnings],
  })
  const { markdown, writeHtml, writeSvgs } = createDocumentFormats(document, Object.fromEntries(series))
  const readStyle = () => readReportFile('page/decision.css')
  return {
    document,
    markdown,
    writeHtml: (out = folder) => writeHtml(out),
    writeSvgs: (out = folder) => writeSvgs(out),
    /** Writes one page of A4 to print, for a decision by this run. */
    writeDecision: (out = folder) =>
      writeAtomically(out, DECISION_PAGE, renderDecisionPage({ document, summary, manifest, style: readStyle() })),
    /** Writes report.md and report.html beside the records. */
    write() {
      writeAtomically(folder, 'report.md', markdown())
      writeHtml(folder)
    },
  }
}

/**
 * Reads the series of the sidecars of all trials with a window, thinned to as many points as a page can have.
 * @param {string} folder of the run
 * @param {TrialRecord[]} records
 * @returns {{ series: Map<string, SidecarSeries[]>, warnings: string[] }} series: by the trial's id, without trials whose
 *   samples are missing or cannot be read; warnings: errors of reading, and the ids of those trials
 * @throws any error of reading that is no BenchError
 */
function readAllSeries(folder, records) {
  const pointsMost = computePointsMost(records)
  const windowed = records.filter(record => record.window !== null)
  /** @type {Map<string, SidecarSeries[]>} */
  const series = new Map()
  const errors = []
  // Trials are read one by one: the samples of all may not fit into memory.
  for (const record of windowed) {
    try {
      const samples = readSamples(folder, record.trial.interleaving ?? record.trial.id)
      const thinned = createSidecarSeries({ record, samples }).map(sidecar => thinSidecar(sidecar, pointsMost))
      if (samples.length > 0) series.set(record.trial.id, thinned)
    } catch (error) {
      if (!(error instanceof BenchError)) throw error
      errors.push(error.message)
    }
  }
  const undrawnIds = windowed.map(record => record.trial.id).filter(id => !series.has(id))
  const undrawnNotes =
    undrawnIds.length > 0 ? [`Without samples, so not drawn over time: ${undrawnIds.join(', ')}`] : []
  return { series, warnings: [...errors, ...undrawnNotes] }
}

/**
 * Computes the most points of a series, by which all series together have at most POINTS_MOST, unless POINTS_OF_SERIES_LEAST for each
 * are more.
 * @param {TrialRecord[]} records
 * @returns {number} from POINTS_OF_SERIES_LEAST to POINTS_OF_SERIES_MOST
 */
function computePointsMost(records) {
  const sidecars = records.reduce((sum, record) => sum + listSidecars(record).length, 0)
  const share = Math.floor(POINTS_MOST / Math.max(1, SERIES_OF_SIDECAR * sidecars))
  return Math.min(POINTS_OF_SERIES_MOST, Math.max(POINTS_OF_SERIES_LEAST, share))
}

/**
 * Thins the series of a sidecar, and rounds its numbers.
 * @param {SidecarSeries} sidecar
 * @param {number} pointsMost of CPU and of memory; throttled stretches all stay
 * @returns {SidecarSeries}
 */
function thinSidecar({ cores, anonBytes, throttled, ...sidecar }, pointsMost) {
  const round = (/** @type {[number, number][]} */ points) =>
    points.map(point => /** @type {[number, number]} */ (point.map(roundToFourDigits)))
  return {
    ...sidecar,
    cores: round(thinSeries(cores, pointsMost)),
    anonBytes: round(thinSeries(anonBytes, pointsMost)),
    throttled: round(throttled),
  }
}

/**
 * Creates functions that render a document, or write it.
 * @param {Document} document
 * @param {Record<string, SidecarSeries[]>} series by the trial's id
 * @returns markdown: renders the text; writeHtml, writeSvgs: write to the folder `out`, and return the paths, or throw BenchError
 */
export function createDocumentFormats(document, series) {
  return {
    markdown: () => renderMarkdown(document),
    writeHtml: (/** @type {string} */ out) =>
      writeAtomically(out, PAGE, renderHtml(document, { series, assets: readPageAssets() })),
    writeSvgs: (/** @type {string} */ out) =>
      listCharts(document.sections).map(chart =>
        writeAtomically(out, `charts/${chart.id}.svg`, drawSvg(chart, { isStandalone: true })),
      ),
  }
}
