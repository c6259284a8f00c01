import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { ROOT } from '../lib/paths.js'

// Modules of the page, each after those that it imports.
const MODULES = ['../lib/units.js', 'charts/style.js', 'charts/over-time.js', 'page/page.js']

/**
 * Reads the assets of a report's page.
 * @returns {{ style: string, scripts: string[], library: string }} style: CSS; scripts: each after those that it
 *   imports; library: ECharts
 * @throws the system's error if one cannot be read
 */
export function readPageAssets() {
  return { style: readReportFile('page/style.css'), scripts: MODULES.map(readReportFile), library: readEcharts() }
}

/** Reads ECharts, as one script for browsers. @returns {string} @throws the system's error if it cannot be read */
export function readEcharts() {
  return readFileSync(createRequire(import.meta.url).resolve('echarts/dist/echarts.min.js'), 'utf8')
}

/**
 * Reads a file of src/report/ as text.
 * @param {string} name its path from that folder
 * @returns {string}
 * @throws the system's error if it cannot be read
 */
export function readReportFile(name) {
  return readFileSync(path.join(ROOT, 'src/report', name), 'utf8')
}
