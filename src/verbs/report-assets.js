import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { ROOT } from '../lib/paths.js'

/**
 * Files that pages are made of.
 */

/** ECharts for browsers, as one script. */
export function readLibrary() {
  return readFileSync(createRequire(import.meta.url).resolve('echarts/dist/echarts.min.js'), 'utf8')
}

/** @param {string} name of a file under src/report/ */
export function readReportFile(name) {
  return readFileSync(path.join(ROOT, 'src/report', name), 'utf8')
}
