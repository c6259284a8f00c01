// The memory over an hour: of the kit, of the sidecars of each plane, and of a browser that shows the live page.
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { init } from 'echarts'
import { execa } from 'execa'
import { chromium } from 'playwright-core'
import { linearRegression } from 'simple-statistics'
import { groupBy } from '../../src/lib/group-by.js'
import { ROOT } from '../../src/lib/paths.js'
import { MIB } from '../../src/lib/units.js'
import { waitForCondition } from '../../src/lib/wait.js'
import { listPids, readProcFile, sumStatusBytes } from '../../src/node/kernel/proc-files.js'
import { readLedgers } from '../../src/node/ledger.js'
import {
  BACKGROUND,
  createAxisBelow,
  createAxisBeside,
  createChartSeries,
  createLineChart,
  roundToFourDigits,
} from '../../src/report/charts/style.js'
import { listMarkedProcesses } from '../../src/targets/local/marks.js'
import { createFinding, getScratch } from './kit.js'

const CHROMIUM = '/usr/bin/chromium'
const EVERY_SECONDS = 15
const READY_SECONDS = 120
// A round is a window of 60 s and its warm-up, of each of two planes.
const ROUND_MINUTES = 2.57
// Few requests: memory that grows with them is a matter of longer runs, memory that grows with time is not.
const RATE = 20
const CPU_LIMIT = 0.1
const GROWTH_MOST_MIB = 5
const WIDTH = 900
const HEIGHT = 420
// Until caches and heaps are full.
const WARM_UP_SHARE = 0.25

/**
 * A process' memory at a moment. @typedef {{ minutes: number, name: string, mib: number }} Sample
 * @typedef {import('./kit.js').Finding} Finding
 */

/** @param {{ minutes?: number, into?: string }} options into: a folder for the samples and the picture @returns {Promise<Finding[]>} */
export async function runSoak({ minutes = 60, into = 'results/soak' }) {
  mkdirSync(into, { recursive: true })
  const file = path.join(into, 'samples.jsonl')
  rmSync(file, { force: true })
  const out = path.join(getScratch(), 'soak')
  const log = path.join(into, 'run.log')
  const rounds = Math.max(2, Math.round(minutes / ROUND_MINUTES))
  const argv = ['soak', '--planes', 'pipy,envoy', '--rate', RATE, '--cpu', CPU_LIMIT, '--rounds', rounds]
  const options = ['--yes', '--live', ':0', '--out', out]
  const child = execa('node', ['src/cli.js', 'bench', ...argv, ...options].map(String), {
    ...{ cwd: ROOT, stdout: 'ignore', stderr: { file: log }, reject: false },
  })
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
  try {
    const page = await browser.newPage()
    await page.goto(await findAddress(log))
    const heap = await page.context().newCDPSession(page)
    await watch({ child, out, file, heap })
    const { exitCode } = await child
    if (exitCode !== 0 && exitCode !== 3) throw new Error(`the run ended with status ${exitCode}`)
  } finally {
    child.kill()
    await browser.close()
  }
  const samples = readSamples(file)
  if (samples.length === 0) throw new Error(`no sidecar ran: ${log} says why`)
  writeFileSync(path.join(into, 'soak.svg'), drawSoak(samples))
  return judge(samples)
}

/** Waits for the address of the page. @param {string} log of a run with `--live` */
async function findAddress(log) {
  const find = () => /^live: (http:\S+)/m.exec(readProcFile(log))?.[1]
  await waitForCondition(() => find() !== undefined, {
    what: `the address of the page in ${log}`,
    deadlineSeconds: READY_SECONDS,
  })
  return `${find()}`
}

/**
 * Writes samples until the run ends.
 * @param {{ child: import('execa').ResultPromise, out: string, file: string, heap: import('playwright-core').CDPSession }} options
 */
async function watch({ child, out, file, heap }) {
  let isOver = false
  child.finally(() => {
    isOver = true
  })
  const begin = performance.now()
  while (!isOver) {
    const minutes = (performance.now() - begin) / 60_000
    const { usedSize } = await heap.send('Runtime.getHeapUsage')
    const bytes = {
      kit: sumStatusBytes([Number(child.pid)], 'VmRSS'),
      page: readRenderers(),
      'page, JavaScript': usedSize,
    }
    for (const [name, value] of Object.entries({ ...bytes, ...readSidecars(out) }))
      appendFileSync(file, `${JSON.stringify({ minutes, name, mib: value / MIB })}\n`)
    await delay(1000 * EVERY_SECONDS)
  }
}

/** Sums the memory of a run's sidecars, by their program. @param {string} out of the run */
function readSidecars(out) {
  const runId = readLedgers().find(({ owner }) => owner?.command.includes(out))?.runId
  const sidecars = listMarkedProcesses().filter(marked => marked.runId === runId && marked.name.endsWith('-sidecar'))
  const byProgram = groupBy(sidecars, ({ pid }) => readProcFile(`/proc/${pid}/comm`).trim())
  return Object.fromEntries(
    [...byProgram].map(([program, processes]) => [
      `${program}, sidecars`,
      sumStatusBytes(
        processes.map(({ pid }) => pid),
        'RssAnon',
      ),
    ]),
  )
}

/** Sums the memory of the processes that render pages for this program's browser. */
function readRenderers() {
  const pids = listPids().filter(pid => {
    const command = readProcFile(`/proc/${pid}/cmdline`)
    return command.includes('--type=renderer') && isDescendant(pid)
  })
  return sumStatusBytes(pids, 'RssAnon')
}

/** @param {number} pid @returns {boolean} whether this program, or what it started, started the process */
function isDescendant(pid) {
  const parent = Number(/\) \S (\d+)/.exec(readProcFile(`/proc/${pid}/stat`))?.[1] ?? 0)
  return parent === process.pid || (parent > 1 && isDescendant(parent))
}

/** Reads the samples while sidecars ran: after them the kit loads the code of its report. @param {string} file @returns {Sample[]} */
function readSamples(file) {
  /** @type {Sample[]} */
  const samples = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map(line => JSON.parse(line))
  const last = Math.max(...samples.filter(({ name }) => name.endsWith('sidecars')).map(({ minutes }) => minutes))
  return samples.filter(({ minutes }) => minutes <= last)
}

/** Draws memory over time. @param {Sample[]} samples @returns {string} SVG */
function drawSoak(samples) {
  const lines = [...groupBy(samples, ({ name }) => name)].map(([label, points]) => ({ label, points }))
  const { option } = createLineChart(
    {
      title: 'Memory over time',
      lines,
      renderLine: ({ label, points }) => `${label}: ${points.at(-1)?.mib.toFixed(1)} MiB`,
    },
    {
      xAxis: createAxisBelow('minutes'),
      yAxis: createAxisBeside('MiB'),
      series: lines.map(({ label, points }, i) =>
        createChartSeries('line', {
          label,
          colour: i + 1,
          showSymbol: false,
          data: points.map(s => [roundToFourDigits(s.minutes), roundToFourDigits(s.mib)]),
        }),
      ),
    },
  )
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT })
  chart.setOption({ ...option, backgroundColor: BACKGROUND })
  const svg = chart.renderToSVGString()
  chart.dispose()
  return svg
}

/** @param {Sample[]} samples @returns {Finding[]} */
function judge(samples) {
  const last = Math.max(...samples.map(({ minutes }) => minutes))
  const settled = samples.filter(({ minutes }) => minutes >= WARM_UP_SHARE * last)
  return [...groupBy(settled, ({ name }) => name)].map(([name, points]) => {
    const { m } = linearRegression(points.map(({ minutes, mib }) => [minutes, mib]))
    const grown = m * (1 - WARM_UP_SHARE) * last
    const values = points.map(({ mib }) => mib)
    return createFinding(
      `memory of ${name} over the last ${(100 * (1 - WARM_UP_SHARE)).toFixed(0)} % of ${last.toFixed(0)} min, growth at most ${GROWTH_MOST_MIB} MiB`,
      grown,
      values,
      growth => growth <= GROWTH_MOST_MIB,
    )
  })
}
