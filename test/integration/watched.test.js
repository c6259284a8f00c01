import { writeFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { waitForCondition } from '../../src/lib/wait.js'
import { listArms } from '../../src/model/results.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { listen } from '../fakes/listen.js'
import { makeFolder } from '../fakes/scratch.js'
import { listDashboardQueries } from '../live/dashboard-queries.js'
import { expectOnFirstScreen, launchBrowser, openPage } from '../real/browser.js'
import { findFreePort, needProgram, startPrometheus } from '../real/prometheus.js'
import { expectNothingLeft } from './leftovers.js'
import { need } from './real-tools.js'

const folder = makeFolder('watched-test')

// A browser and a Prometheus on the same machine are neighbours: what is watched here is not for its numbers.
const EXPERIMENT = `name: watched
question: Who looks on?
axes: { plane: [none, pipy, envoy], link: [gateway-ratings], cpuLimitCores: [0.25], ratePerSecond: [100] }
relaxes:
  - { gate: neighbour, why: who looks on runs on the same machine }
  - { gate: steady, why: the same }
  - { gate: generator, why: the same }
  - { gate: drops, why: the same }
  - { gate: knee, why: the same }
profiles: { standard: { rounds: 2, hasControl: false } }
`

// A try has a folder of its own.
let tries = 0

describe('a run that is watched', { timeout: 300_000 }, () => {
  it('shows itself to a browser and to Prometheus, and its report shows its numbers', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    const program = await needProgram(context, 'prometheus')
    const promtool = await needProgram(context, 'promtool')
    const browser = await launchBrowser(context)
    const [live, metrics] = [await findFreePort(), await findFreePort()]

    const experiment = path.join(folder, 'watched.yaml')
    writeFileSync(experiment, EXPERIMENT)
    const out = path.join(folder, `run-${++tries}`)
    const argv = ['bench', experiment, '--live', `:${live}`, '--metrics', `${metrics}`, '--out', out]
    const running = execa('node', ['src/cli.js', ...argv], { reject: false, forceKillAfterDelay: 30_000 })
    const prometheus = await startPrometheus({ program, folder, metricsPort: metrics, mostSeconds: 250 })
    const ended = running.then(() => true)
    const silent = new Set(listDashboardQueries({ rateInterval: '4s' }).map(q => q.expression))
    try {
      const { page, complaints } = await openPage(browser)
      const url = `http://127.0.0.1:${live}/`
      await awaitServed(url)
      await page.goto(url)
      const observed = { phases: new Set(), mostCharts: 0, rate: '' }
      let exposition = ''
      while (!(await Promise.race([ended, delay(500).then(() => false)]))) {
        observed.phases.add(await page.textContent('#phase'))
        const rate = `${await page.textContent('#rate')}`
        if (/\d/.test(rate)) observed.rate = rate
        observed.mostCharts = Math.max(observed.mostCharts, await page.locator('figure:not([hidden]) svg').count())
        for (const expression of silent) if (await prometheus.countSeries(expression)) silent.delete(expression)
        const text = await fetch(`http://127.0.0.1:${metrics}/metrics`).then(
          r => r.text(),
          () => '',
        )
        if (text.includes('sidecar_bench_sidecar_memory_anonymous_bytes{')) exposition = text
      }
      const { exitCode, stderr } = await running
      // 3: other files use the CPUs, too, and may have taken the verdict.
      expect([0, 3], stderr).toContain(exitCode)
      expect([...silent]).toEqual([])
      expect((await execa(promtool, ['check', 'metrics'], { input: exposition, all: true, reject: false })).all).toBe(
        '',
      )

      expect([...observed.phases].join()).toMatch(/window/)
      expect(Number(observed.rate.replace(/\D/g, ''))).toBeGreaterThan(50)
      expect(observed.mostCharts).toBe(3)
      // A window that another process of the machine spoils is measured again.
      const { records } = readRun(out)
      expect(records.length).toBeGreaterThanOrEqual(6)
      expect(await page.locator('#trials tr').count()).toBe(records.length)
      expect(await page.textContent('#connection')).toContain('the run has ended')
      expect(complaints).toEqual([])

      const report = await openPage(browser, { offline: true, viewport: { width: 1280, height: 800 } })
      await report.page.goto(`file://${out}/report.html`)
      // Small caps bind here, so that nothing may be left to show.
      await expectOnFirstScreen(report.page, { hasLimits: false })
      const arms = listArms(readSummary(out))
      const values = await report.page
        .locator('figure:has([data-chart="rounds-cpuPerRequest"]) tbody tr')
        .evaluateAll(rows => rows.map(row => Number(row.children[1].textContent)))
      expect(values).toEqual(
        arms.flatMap(a => (a.cpuPerRequestMicros.median === null ? [] : [Math.round(a.cpuPerRequestMicros.median)])),
      )
      expect(values).toHaveLength(2)
      const charts = report.page.locator('[data-chart]')
      for (const summary of await report.page.locator('details.arm > summary').all()) await summary.click()
      for (const chart of await charts.all()) await chart.scrollIntoViewIfNeeded()
      expect(await report.page.locator('[data-chart] svg').count()).toBe(await charts.count())
      expect(await charts.count()).toBeGreaterThanOrEqual(5)
      expect(report.complaints).toEqual([])
      expectNothingLeft(running.pid)
    } finally {
      running.kill('SIGTERM')
      await Promise.all([running, prometheus.stop(), browser.close()])
    }
  })

  it('refuses a port that is taken before it measures anything, and goes on when a browser has gone', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const taken = net.createServer()
    const { port } = await listen(taken)
    for (const option of ['--live', '--metrics']) {
      const { exitCode, stderr } = await execa('node', ['src/cli.js', 'bench', option, `:${port}`], { reject: false })
      expect(stderr).toContain(`error: ${option} :${port}: port ${port} of 127.0.0.1 is in use by something else`)
      expect(exitCode).toBe(1)
    }
    taken.close()

    const out = path.join(folder, 'alone')
    const livePort = await findFreePort()
    const argv = '--measure capacity --planes pipy --link ratings --users 5 --cpu 0.5 --profile smoke'.split(' ')
    const running = execa('node', ['src/cli.js', 'bench', ...argv, '--live', `:${livePort}`, '--out', out], {
      reject: false,
    })
    const gone = new AbortController()
    const url = `http://127.0.0.1:${livePort}/`
    await awaitServed(url)
    await fetch(`${url}events`, { signal: gone.signal })
    gone.abort()
    const { exitCode, stderr } = await running
    expect([0, 3], stderr).toContain(exitCode)
    expectNothingLeft(running.pid)
  })
})

/** @param {string} url */
async function awaitServed(url) {
  const isServed = () =>
    fetch(url).then(
      () => true,
      () => false,
    )
  await waitForCondition(isServed, { what: `an answer at ${url}`, deadlineSeconds: 30, intervalMs: 100 })
}
