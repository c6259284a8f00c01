import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { parseAddress } from '../../src/live/address.js'
import { startLiveServer } from '../../src/live/server.js'
import { createRunState } from '../../src/live/state.js'
import { createArm } from '../fakes/fake-records.js'
import { launchBrowser, listAxeViolations, openPage } from '../real/browser.js'
import { until } from './event-client.js'
import { createSidecarSpec, endTrial, plan, START_MS, sample, startTrial } from './fake-events.js'

/** @import { Browser, Page } from 'playwright-core' @import { RunEvent } from '../../src/run/events.js' */

const CHARTS = 'src/report/charts'
const HOSTILE = '<img src=x onerror="document.title=\'owned\'"><script>document.title="owned"</script>'

const assets = {
  echarts: readFileSync(createRequire(import.meta.url).resolve('echarts/dist/echarts.min.js'), 'utf8'),
  modules: Object.fromEntries(readdirSync(CHARTS).map(f => [`/charts/${f}`, readFileSync(`${CHARTS}/${f}`, 'utf8')])),
}
const arms = [
  createArm({ plane: 'none', cpuLimitCores: null, link: HOSTILE }),
  createArm({ plane: 'cheap', link: HOSTILE }),
  createArm({ plane: 'cheap', id: 'other-cheap', cpuLimitCores: 0.5, link: 'other' }),
]
const [none, cheap] = arms
const specs = [createSidecarSpec('gateway'), createSidecarSpec(HOSTILE)]

/** @type {Browser | null} */
let browser = null
afterAll(async () => browser?.close())

/**
 * @param {import('vitest').TestContext} context skipped where there is no browser
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
async function open(context, options) {
  browser ??= await launchBrowser(context)
  const state = createRunState()
  const emit = (/** @type {RunEvent[]} */ ...events) => {
    for (const event of events) {
      state.apply(event)
      server.publish(event)
    }
  }
  let server = await startLiveServer({ address: parseAddress(':0', '--live'), state, assets, intervalMs: 20 })
  const { port } = new URL(server.url)
  onTestFinished(() => server.close())
  const { page, complaints } = await openPage(browser, options)
  onTestFinished(() => page.close())
  return {
    ...{ page, state, emit, complaints, url: server.url },
    /** @param {string} id @param {string | RegExp} text */
    async shows(id, text) {
      const hasText = async () => {
        const content = (await page.textContent(`#${id}`))?.trim() ?? ''
        return typeof text === 'string' ? content === text : text.test(content)
      }
      await until(hasText, `#${id} to show ${text}`)
    },
    close: () => server.close(),
    async startAgain() {
      server = await startLiveServer({ address: parseAddress(port, '--live'), state, assets, intervalMs: 20 })
    },
  }
}

/** A run in its second trial, with a failed one before it. */
const RUN = [
  plan({ arms, run: { id: 'run-1', experiment: 'cap', question: HOSTILE } }),
  startTrial(none),
  endTrial({ arm: none, processes: [] }),
  startTrial(cheap),
  /** @type {RunEvent} */ ({ kind: 'phase', phase: 'window', atMs: START_MS }),
  ...Array.from({ length: 30 }, (_, i) =>
    sample({
      seconds: i / 10,
      reading: { atSeconds: i / 10, cpuSeconds: 0.0198 * i, periods: i, throttledPeriods: i },
      specs,
    }),
  ),
  /** @type {RunEvent} */ ({ kind: 'counted', requests: 0, failed: 0, atMs: START_MS }),
  /** @type {RunEvent} */ ({ kind: 'counted', requests: 2864, failed: 2, atMs: START_MS + 2000 }),
]

/** @param {Page} page @param {string} id */
async function countDrawn(page, id) {
  return page.locator(`#${id} svg path`).count()
}

describe('the page', () => {
  it('shows what the state knows, and charts', async context => {
    const { page, state, emit, complaints, url, shows } = await open(context)
    await page.goto(url)
    await shows('phase', 'between trials')
    emit(...RUN)
    await shows('rate', '1432')
    const snapshot = state.snapshot()
    expect(snapshot.ratePerSecond).toBe(1432)
    await shows('phase', 'window')
    await shows('progress', 'repeat 1 of 2, trial 2 of 8')
    await shows('failed', '2 in this trial, 2 in all')
    await shows('outcomes', '1 completed, 0 failed, 0 invalid')
    await shows('left', '2 min left')
    await shows('experiment', 'cap')
    const meter = page.locator('meter').first()
    expect(await meter.evaluate(m => /** @type {HTMLMeterElement} */ (m).value)).toBe(snapshot.sidecars[0].cores)
    expect(await meter.getAttribute('aria-valuetext')).toBe('0.198 of 0.25 cores')
    expect(await page.locator('#sidecars .words').first().textContent()).toBe(
      '0.198 of 0.25 cores, throttled 100 %, 28.6 MiB',
    )
    const bar = page.locator('#progress-bar')
    expect(await bar.evaluate(b => [b.getAttribute('max'), b.getAttribute('value')])).toEqual(['8', '1'])

    await until(async () => (await countDrawn(page, 'over-time')) > 4, 'the chart over time')
    await until(async () => (await countDrawn(page, 'throughput')) > 4, 'the chart of rates')
    expect(await page.getAttribute('#over-time [role=img]', 'aria-label')).toContain('gateway: at most 0.198 cores')
    emit(endTrial({ arm: cheap, boundBy: 'sidecar', load: { verified: 500 } }))
    await shows('outcomes', '2 completed, 0 failed, 0 invalid')
    await until(async () => (await countDrawn(page, 'cpu-per-request')) > 4, 'the chart of CPU per request')
    const cells = await page.locator('#trials tr').first().locator('td').allTextContents()
    expect(cells.slice(2)).toEqual(['completed', 'sidecar', '500', '200', '9.9', ''])
    expect(complaints).toEqual([])
  })

  it.for(
    /** @type {const} */ (['light', 'dark']),
  )('passes the rules of axe in the %s', async (colorScheme, context) => {
    const { page, emit, url } = await open(context, { colorScheme, bypassCSP: true })
    await page.goto(url)
    emit(...RUN)
    await until(async () => (await countDrawn(page, 'throughput')) > 4, 'the chart of rates')
    expect(await listAxeViolations(page)).toEqual([])
  })

  it('puts what names and errors say into the page as text', async context => {
    const { page, emit, complaints, url, shows } = await open(context)
    await page.goto(url)
    emit(...RUN, endTrial({ arm: cheap, outcome: 'invalid', reasons: [HOSTILE] }))
    await shows('question', HOSTILE)
    await shows('arm', `cheap, link ${HOSTILE}, 0.25 cores`)
    await until(async () => (await countDrawn(page, 'over-time')) > 4, 'the chart over time')
    expect(await page.locator('#sidecars .name').last().textContent()).toBe(HOSTILE)
    const row = page.locator('#trials tr').first()
    expect(await row.locator('[data-name=reason]').textContent()).toBe(HOSTILE)
    expect(await row.locator('[data-name=arm]').textContent()).toContain(HOSTILE)
    await page.locator('#over-time [role=img]').hover({ position: { x: 300, y: 120 } })
    await page.locator('#throughput [role=img]').hover({ position: { x: 300, y: 40 } })
    expect(await page.locator('main img, body script').count()).toBe(0)
    expect(await page.title()).toBe('cap, trial 2 of 8')
    expect(complaints).toEqual([])
  })

  it.for(
    /** @type {const} */ ([
      [360, 'light'],
      [360, 'dark'],
      [1440, 'dark'],
    ]),
  )('fits into %i pixels, in a %s theme', async ([width, colorScheme], context) => {
    const { page, emit, complaints, url } = await open(context, { viewport: { width, height: 800 }, colorScheme })
    await page.goto(url)
    emit(...RUN, endTrial({ arm: cheap, outcome: 'invalid', reasons: [`${HOSTILE} ${'long'.repeat(100)}`] }))
    await until(async () => (await countDrawn(page, 'cpu-per-request')) > 4, 'the charts')
    const widths = () => page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    expect(await widths()).toEqual([width, width])
    const background = await page.evaluate(() => getComputedStyle(document.body).backgroundColor)
    expect(background).toBe(colorScheme === 'dark' ? 'rgb(13, 17, 23)' : 'rgb(255, 255, 255)')
    // To look at: a folder.
    if (process.env.SCREENSHOTS) {
      await page.screenshot({ path: `${process.env.SCREENSHOTS}/${width}-${colorScheme}.png`, fullPage: true })
    }
    // Narrower and wider again: the charts go along.
    await page.setViewportSize({ width: 500, height: 800 })
    await until(async () => (await page.locator('#over-time svg').boundingBox())?.width !== undefined, 'a chart')
    await until(
      async () => Number((await page.locator('#over-time svg').boundingBox())?.width) < 500,
      'a narrower chart',
    )
    await page.setViewportSize({ width: 360, height: 800 })
    await until(async () => (await widths())[0] === 360, 'the page to fit into 360 pixels again')
    expect(complaints).toEqual([])
  })

  it('draws its charts in the colours of another theme when that is chosen', async context => {
    const { page, emit, complaints, url } = await open(context, { colorScheme: 'light' })
    await page.goto(url)
    emit(...RUN)
    const colours = async () =>
      page.locator('#over-time svg [fill]').evaluateAll(all => all.map(element => element.getAttribute('fill')))
    const [light, dark] = ['#1f2328', '#e6edf3']
    await until(async () => (await colours()).includes(light), 'the chart in light colours')
    await page.emulateMedia({ colorScheme: 'dark' })
    await until(async () => (await colours()).includes(dark), 'the chart in dark colours')
    expect(await colours()).not.toContain(light)
    expect(complaints).toEqual([])
  })

  it('says that the connection was lost, and shows all there is when it is back', async context => {
    const { page, state, emit, url, shows, close, startAgain } = await open(context)
    emit(...RUN)
    await page.goto(url)
    await shows('rate', '1432')
    await close()
    await shows('connection', 'connection lost, trying again')
    state.apply(endTrial({ arm: cheap, outcome: 'failed', reasons: ['it died'] }))
    await startAgain()
    await shows('connection', '')
    await shows('outcomes', '1 completed, 1 failed, 0 invalid')
    expect(await page.locator('#trials tr').count()).toBe(2)
  })

  it('says that the run has ended, and asks no more', async context => {
    const { page, emit, complaints, url, shows, close } = await open(context)
    emit(...RUN)
    await page.goto(url)
    await shows('phase', 'window')
    emit({ kind: 'ended', outcome: 'interrupted', atMs: START_MS })
    await shows('phase', 'interrupted')
    await shows('connection', 'the run has ended: nothing more will come')
    await close()
    await page.waitForTimeout(2500)
    await shows('connection', 'the run has ended: nothing more will come')
    expect(complaints).toEqual([])
  })

  it('shows each trial by itself, and what it had no name for before', async context => {
    const { page, emit, complaints, url, shows } = await open(context)
    await page.goto(url)
    emit(...RUN)
    await until(async () => (await countDrawn(page, 'over-time')) > 4, 'the chart over time')
    emit(endTrial({ arm: cheap }), startTrial(arms[2]))
    await shows('progress', 'repeat 1 of 2, trial 3 of 8')
    await shows('rate', '–')
    expect(await page.locator('#sidecars-section').isHidden()).toBe(true)
    const uncapped = [createSidecarSpec('gateway', null)]
    for (const i of [0, 1, 2]) {
      emit(sample({ seconds: i, reading: { atSeconds: i, cpuSeconds: i, throttledPeriods: null }, specs: uncapped }))
    }
    const label = async () => String(await page.getAttribute('#over-time [role=img]', 'aria-label'))
    await until(async () => (await label()).includes('no cap'), 'the chart of the trial')
    expect(await label()).toContain(
      'CPU and memory of trial 3 of 8, cheap, link other, 0.5 cores. gateway: at most 1 cores',
    )
    expect(await page.locator('#sidecars').textContent()).toBe('gateway1.000 cores, 28.6 MiB')
    expect(await page.locator('meter').count()).toBe(0)
    expect(complaints).toEqual([])
  })

  it('says without JavaScript where the same is to be seen', async context => {
    const { page, url } = await open(context, { javaScriptEnabled: false })
    await page.goto(url)
    const text = (await page.locator('body').innerText()).replace(/\s+/g, ' ')
    expect(text).toContain('needs JavaScript for it. The terminal in which sidecar-bench was started shows the same')
    expect(text).not.toContain('waiting')
  })
})
