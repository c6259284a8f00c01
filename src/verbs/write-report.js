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
import { answerClaims } from './read-claims.js'
import { readAssets, readReportFile } from './report-assets.js'

/**
 * The documents of a run, from its records.
 * @import { ClaimsFile } from '../analysis/claims/claims.js'
 * @import { Summary } from '../model/types.ts'
 * @import { SidecarSeries } from '../judge/sidecars.js'
 * @import { Document } from '../report/document.js'
 */

// Most points of all trials together, and of one series: a browser must still open the page of thousands of trials.
const POINTS_MOST = 200_000
const POINTS_OF_TRIAL_MOST = 400
const POINTS_OF_TRIAL_LEAST = 20
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
 * @throws {BenchError} if the folder holds no run
 */
export function openReport({ folder, summary, claims: files, run = readRun(folder) }) {
  const { manifest, records, warnings } = run
  const sidecars = records.reduce((sum, r) => sum + r.processes.filter(p => p.role === 'sidecar').length, 0)
  const share = Math.floor(POINTS_MOST / Math.max(1, SERIES_OF_SIDECAR * sidecars))
  const pointsMost = Math.min(POINTS_OF_TRIAL_MOST, Math.max(POINTS_OF_TRIAL_LEAST, share))
  const round = (/** @type {[number, number][]} */ points) =>
    points.map(point => /** @type {[number, number]} */ (point.map(roundToFourDigits)))
  /** Sidecars over time, thinned, by the trial's id; those without samples are not in it. @type {Map<string, SidecarSeries[]>} */
  const series = new Map()
  const unread = []
  // Trials are read one by one: the samples of all may not fit into memory.
  for (const record of records.filter(r => r.window !== null)) {
    try {
      const samples = readSamples(folder, record.trial.interleaving ?? record.trial.id)
      const drawn = createSidecarSeries({ record, samples }).map(({ cores, anonBytes, throttled, ...sidecar }) => ({
        ...sidecar,
        cores: round(thinSeries(cores, pointsMost)),
        anonBytes: round(thinSeries(anonBytes, pointsMost)),
        throttled: round(throttled),
      }))
      if (samples.length > 0) series.set(record.trial.id, drawn)
    } catch (error) {
      if (!(error instanceof BenchError)) throw error
      unread.push(error.message)
    }
  }
  const undrawnTrials = records.filter(r => r.window !== null && !series.has(r.trial.id)).map(r => r.trial.id)
  const undrawnWarnings =
    undrawnTrials.length > 0 ? [`Without samples, so not drawn over time: ${undrawnTrials.join(', ')}`] : []
  const document = createDocument({
    manifest,
    summary,
    records,
    claims: answerClaims(summary, files),
    seriesOf: id => series.get(id) ?? [],
    warnings: [...warnings, ...unread, ...undrawnWarnings],
  })
  const { markdown, writeHtml, writeSvgs } = openDocument(document, Object.fromEntries(series))
  const readStyle = () => readReportFile('page/decision.css')
  return {
    document,
    markdown,
    writeHtml: (out = folder) => writeHtml(out),
    writeSvgs: (out = folder) => writeSvgs(out),
    /** Writes the page for a decision. */
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
 * Creates functions that render a document, or write it.
 * @param {Document} document
 * @param {Record<string, SidecarSeries[]>} series by the trial's id
 * @returns markdown: renders the text; writeHtml, writeSvgs: write to the folder `out`, and return the paths
 */
export function openDocument(document, series) {
  return {
    markdown: () => renderMarkdown(document),
    writeHtml: (/** @type {string} */ out) =>
      writeAtomically(out, PAGE, renderHtml(document, { series, assets: readAssets() })),
    writeSvgs: (/** @type {string} */ out) =>
      listCharts(document.sections).map(chart =>
        writeAtomically(out, `charts/${chart.id}.svg`, drawSvg(chart, { isStandalone: true })),
      ),
  }
}
