import { mkdirSync } from 'node:fs'
import path from 'node:path'
import { evaluateClaims } from '../analysis/claims/claims.js'
import { readSamples } from '../records/raw.js'
import { readRun, writeResult } from '../records/records.js'
import { drawSvg } from '../report/charts/draw-svg.js'
import { shorten } from '../report/charts/style.js'
import { listCharts } from '../report/charts.js'
import { createDocument } from '../report/document.js'
import { renderHtml } from '../report/html.js'
import { renderMarkdown } from '../report/markdown.js'
import { describeSeries } from '../report/series.js'
import { thinSeries } from '../report/thin.js'
import { readLibrary, readReportFile } from './report-assets.js'

/**
 * The documents of a run, from its records.
 * @import { ClaimsFile } from '../analysis/claims/claims.js'
 * @import { Summary, TrialRecord } from '../model/types.ts'
 * @import { SidecarSeries } from '../report/charts/over-time.js'
 */

// Of all trials together, so that a run of thousands stays a page that opens.
const POINTS_MOST = 200_000
const POINTS_OF_TRIAL_MOST = 400
const POINTS_OF_TRIAL_LEAST = 20
const SERIES_OF_SIDECAR = 2
const MODULES = ['../lib/units.js', 'charts/palette.js', 'charts/style.js', 'charts/over-time.js', 'page/page.js']

/**
 * @param {{ folder: string, summary: Summary, claims: ClaimsFile[], run?: ReturnType<typeof readRun> }} given
 *   summary: as made of the records; claims: all that are known; run: as it was read
 * @throws {import('../lib/errors.js').BenchError} where the folder holds no run
 */
export function openReport({ folder, summary, claims: files, run = readRun(folder) }) {
  const { manifest, records, warnings } = run
  const series = readSeries(folder, records)
  const claims = evaluateClaims({ files, summaries: [summary] }).filter(
    claim => claim.experiment === summary.run.experiment,
  )
  const seriesOf = (/** @type {string} */ id) => series[id] ?? []
  const lost = records.filter(r => r.window !== null && !(r.trial.id in series)).map(r => r.trial.id)
  const document = createDocument({
    ...{ manifest, summary, records, claims, seriesOf },
    warnings: [
      ...warnings,
      ...(lost.length > 0 ? [`Without samples, so not drawn over time: ${lost.join(', ')}`] : []),
    ],
  })
  /** Writes report.html beside the records. */
  const writeHtml = () => writeResult(folder, 'report.html', renderHtml(document, { series, assets: readAssets() }))
  return {
    document,
    markdown: () => renderMarkdown(document),
    writeHtml,

    /** Writes report.html and report.md beside the records. */
    write() {
      writeHtml()
      writeResult(folder, 'report.md', renderMarkdown(document))
    },

    /**
     * Writes every chart as a file of its own.
     * @returns {string[]} the files
     */
    writeSvgs() {
      const charts = path.join(folder, 'charts')
      mkdirSync(charts, { recursive: true })
      return listCharts(document.charts).map(chart => {
        writeResult(charts, `${chart.id}.svg`, drawSvg(chart, { isStandalone: true }))
        return path.join(charts, `${chart.id}.svg`)
      })
    },
  }
}

/** What the page is made of beside its data. */
function readAssets() {
  return { style: readReportFile('page/style.css'), scripts: MODULES.map(readReportFile), library: readLibrary() }
}

/**
 * The sidecars of every trial over time, thinned; one trial after the other, since all samples together may not fit.
 * @param {string} folder
 * @param {TrialRecord[]} records
 * @returns {Record<string, SidecarSeries[]>} by the trial's id; those without samples are not in it
 */
function readSeries(folder, records) {
  const sidecars = records.reduce((sum, r) => sum + r.processes.filter(p => p.role === 'sidecar').length, 0)
  const share = Math.floor(POINTS_MOST / Math.max(1, SERIES_OF_SIDECAR * sidecars))
  const most = Math.min(POINTS_OF_TRIAL_MOST, Math.max(POINTS_OF_TRIAL_LEAST, share))
  return Object.fromEntries(
    records.flatMap(record => {
      if (record.window === null) return []
      const samples = readSamples(folder, record.trial.id)
      if (samples.length === 0) return []
      return [[record.trial.id, describeSeries({ record, samples }).map(series => thin(series, most))]]
    }),
  )
}

/**
 * @param {SidecarSeries} series
 * @param {number} most
 * @returns {SidecarSeries}
 */
function thin({ cores, anonBytes, throttled, ...series }, most) {
  const round = (/** @type {[number, number][]} */ points) =>
    points.map(([a, b]) => /** @type {[number, number]} */ ([shorten(a), shorten(b)]))
  return {
    ...series,
    cores: round(thinSeries(cores, most)),
    anonBytes: round(thinSeries(anonBytes, most)),
    throttled: round(throttled),
  }
}
