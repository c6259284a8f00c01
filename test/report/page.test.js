import { readFileSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { findQuantity } from '../../src/judge/quantities.js'
import { listArms } from '../../src/model/results.js'
import { openReport } from '../../src/verbs/write-report.js'
import { createArms, writeFakeRun } from '../fakes/fake-folder.js'
import { makeFolder } from '../fakes/scratch.js'
import { expectOnFirstScreen, launchBrowser, listAxeViolations, openPage } from '../real/browser.js'

/** @import { Browser, Page } from 'playwright-core' */

const HOSTILE = `<img src=x onerror="document.title='owned'"></script><script>document.title='owned'</script>`
const base = makeFolder('report-page-test')
/** @type {Browser | null} */
let browser = null
afterAll(async () => browser?.close())

/** @param {string} name @param {Partial<Parameters<typeof writeFakeRun>[0]>} [options] */
function write(name, options = {}) {
  const folder = path.join(base, name)
  const { summary } = writeFakeRun({ folder, ...options })
  openReport({ folder, summary, claims: [] }).write()
  return { summary, url: `file://${folder}/report.html` }
}
/** @type {ReturnType<typeof write>} */
let run
beforeAll(() => {
  run = write('plain')
})

/** @param {import('vitest').TestContext} context @param {string} url @param {import('playwright-core').BrowserContextOptions} [options] */
async function open(context, url, options) {
  browser ??= await launchBrowser(context)
  const opened = await openPage(browser, { offline: true, ...options })
  onTestFinished(() => opened.page.close())
  await opened.page.goto(url)
  return opened
}

/** Every chart is drawn when it is looked at. @param {Page} page */
async function look(page) {
  await page.evaluate(() => {
    for (const details of document.querySelectorAll('details')) details.open = true
  })
  for (const chart of await page.locator('[data-chart]').all()) await chart.scrollIntoViewIfNeeded()
  await page.waitForFunction(() =>
    [...document.querySelectorAll('[data-chart]')].every(at => at.hasAttribute('_echarts_instance_')),
  )
}

/** The median of each row of the table behind a chart. @param {Page} page @param {string} id */
const mediansOf = (page, id) =>
  page
    .locator(`figure:has([data-chart="${id}"]) tbody tr`)
    .evaluateAll(rows => rows.map(row => row.children[1].textContent))

describe('report.html in a browser', () => {
  it.for([
    360, 1440,
  ])('draws every chart at %i pixels, without a complaint and without the network', async (width, context) => {
    const { page, complaints } = await open(context, run.url, { viewport: { width, height: 900 } })
    await look(page)
    const shapes = await page
      .locator('[data-chart]')
      .evaluateAll(all => all.map(at => at.querySelectorAll('svg path').length))
    expect(shapes).toHaveLength(5)
    for (const count of shapes) expect(count).toBeGreaterThan(10)
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(width)
    expect(complaints).toEqual([])
  })

  it('gives every chart the height at which it is drawn, before its script has drawn it and after', async context => {
    const heights = (/** @type {Page} */ page) =>
      page.locator('[data-chart]').evaluateAll(all => all.map(at => at.getBoundingClientRect().height))
    const options = { viewport: { width: 1440, height: 900 } }
    const { page: still } = await open(context, run.url, { ...options, javaScriptEnabled: false })
    for (const summary of await still.locator('details.arm > summary').all()) await summary.click()
    const { page: drawn } = await open(context, run.url, options)
    await look(drawn)
    const before = await heights(still)
    expect(before).toEqual(await heights(drawn))
    // A chart that has a row for itself is as wide as the page: its lines and letters are no larger for that.
    const inside = await still
      .locator('[data-chart] > svg')
      .evaluateAll(all => all.map(at => /** @type {SVGSVGElement} */ (at).getScreenCTM()?.a ?? 0))
    for (const scale of inside) expect(scale).toBeLessThanOrEqual(1)
    expect(await still.locator('[data-chart] > svg > title').count()).toBe(before.length)
  })

  it('folds the charts over time under their arms, which open without JavaScript', async context => {
    const { page } = await open(context, run.url, { javaScriptEnabled: false })
    const arms = page.locator('details.arm')
    expect(await arms.count()).toBe(2)
    expect(await arms.first().locator('svg').isVisible()).toBe(false)
    await arms.first().locator('> summary').click()
    expect(await arms.first().locator('svg').isVisible()).toBe(true)
  })

  it('has the answer, its picture and what was not measured on the first screen, each reason once', async context => {
    const reason = 'pipy was not found: get it, and say where with PIPY=/path/to/pipy'
    const arms = createArms().filter(arm => arm.plane !== 'pipy')
    const notMeasured = ['pipy', 'pipy=v2'].map(plane => ({ plane, reason }))
    const alone = write('alone', { arms, manifest: { notMeasured } })
    for (const url of [run.url, alone.url]) {
      for (const javaScriptEnabled of [true, false]) {
        const { page } = await open(context, url, { javaScriptEnabled, viewport: { width: 1280, height: 800 } })
        await expectOnFirstScreen(page)
      }
    }
    const { page } = await open(context, alone.url)
    expect((await page.locator('body').innerText()).split(reason)).toHaveLength(2)
  })

  it('draws a plane that was measured again with hollow dots', async context => {
    const [none, pipy, envoy] = createArms()
    const { url } = write('control', { arms: [none, pipy, envoy, { ...pipy, id: 'again', repeatOf: pipy.id }] })
    const { page } = await open(context, url, { javaScriptEnabled: false })
    expect(await page.locator('[data-chart=rounds-cpuPerRequest] path[fill=none][stroke][transform]').count()).toBe(6)
  })

  it('shows the numbers of summary.json', async context => {
    const { page } = await open(context, run.url)
    const arms = listArms(run.summary)
    const medians = (/** @type {string} */ name) =>
      arms.flatMap(arm => findQuantity(arm, name).median?.toFixed(0) ?? [])
    expect(await mediansOf(page, 'rounds-throughput')).toEqual(medians('throughput'))
    expect(await mediansOf(page, 'rounds-cpuPerRequest')).toEqual(medians('cpuPerRequest'))
    const results = await page
      .locator('#results > .scroll tbody tr')
      .evaluateAll(rows => rows.map(row => row.children[2].textContent))
    expect(results).toEqual(
      arms.map(
        ({ throughputPerSecond: { median, low, high } }) =>
          `${median?.toFixed(0)}[${low?.toFixed(0)}, ${high?.toFixed(0)}]`,
      ),
    )
  })

  it.for([360, 1440])('is whole at %i pixels without JavaScript', async (width, context) => {
    const { page, complaints } = await open(context, run.url, {
      javaScriptEnabled: false,
      viewport: { width, height: 900 },
    })
    expect(await page.locator('[data-chart] > svg').count()).toBe(5)
    expect(await page.locator('.answer').textContent()).toContain('less CPU per request than envoy')
    expect(await page.locator('.explorer').isVisible()).toBe(false)
    expect(await page.locator('#words tbody tr').count()).toBeGreaterThan(40)
    const box = await page.locator('html').boundingBox()
    expect(box?.width).toBe(width)
    expect(complaints).toEqual([])
  })

  it('shows any trial that is chosen', async context => {
    const { page, complaints } = await open(context, run.url)
    await page.locator('#trial').selectOption('r4-link-envoy-0.25')
    const label = page.locator('.explorer [role=img]')
    expect(await label.getAttribute('aria-label')).toContain('r4-link-envoy-0.25. gateway: at most 0.24 cores')
    expect(await page.locator('#trial option').count()).toBe(18)
    expect(complaints).toEqual([])
  })

  it('takes other colours in the dark, drawn or not', async context => {
    const colours = async (/** @type {'dark' | 'light'} */ colorScheme, javaScriptEnabled = true) => {
      const { page } = await open(context, run.url, { colorScheme, javaScriptEnabled })
      const text = page.locator('[data-chart] svg text', { hasText: 'pipy' }).first()
      return text.evaluate(e => getComputedStyle(e).fill)
    }
    expect(await colours('light')).toBe('rgb(31, 35, 40)')
    expect(await colours('dark')).toBe('rgb(230, 237, 243)')
    expect(await colours('dark', false)).toBe('rgb(230, 237, 243)')
  })

  it.for(
    /** @type {const} */ (['light', 'dark']),
  )('passes the rules of axe in the %s', async (colorScheme, context) => {
    const { page } = await open(context, run.url, { colorScheme })
    await look(page)
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true
    })
    expect(await listAxeViolations(page)).toEqual([])
  })

  it('has a name for every chart and table, and headings in order', async context => {
    const { page } = await open(context, run.url)
    const labels = await page
      .locator('[role=img], [role=group], select')
      .evaluateAll(all =>
        all.map(at => at.getAttribute('aria-label') || document.querySelector(`label[for="${at.id}"]`)?.textContent),
      )
    for (const label of labels) expect(label?.length).toBeGreaterThan(3)
    const levels = await page.locator('h1, h2, h3').evaluateAll(all => all.map(at => Number(at.tagName[1])))
    expect(levels[0]).toBe(1)
    for (const [i, level] of levels.slice(1).entries()) expect(level - levels[i]).toBeLessThanOrEqual(1)
  })

  it('shows markup in a name of a plane, a log line and the name of a file as text', async context => {
    // The name of a variant is the last part of its path.
    const label = `<img src=x onerror="document.title='owned'">`
    const { url } = write('hostile', {
      arms: createArms().map(arm => (arm.plane === 'pipy' ? { ...arm, variant: label } : arm)),
      change: record => ({
        ...record,
        reasons: [`the end of its log:\n${HOSTILE}`],
        processes: record.processes.map(p => ({ ...p, service: HOSTILE, files: [{ name: HOSTILE, sha256: 'a' }] })),
      }),
      manifest: { question: HOSTILE, command: [HOSTILE], notMeasured: [{ plane: HOSTILE, reason: HOSTILE }] },
    })
    const { page, complaints } = await open(context, url)
    await look(page)
    // What a tooltip says is HTML to ECharts.
    await page.locator('[data-chart^=over-time]').first().hover()
    expect(await page.locator('img, [onerror]').count()).toBe(0)
    expect(await page.title()).toContain('cap')
    expect(await page.locator('#trials').textContent()).toContain('document.title')
    expect(await page.locator('.answer').textContent()).toContain(`pipy=${label} uses`)
    expect(complaints).toEqual([])
  })
})

it('is no larger than its library and its data need', () => {
  expect(readFileSync(run.url.slice('file://'.length)).length).toBeLessThan(2e6)
})
