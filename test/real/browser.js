import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { chromium } from 'playwright-core'
import { expect } from 'vitest'

/** A real browser, for tests of pages. @import { Browser, BrowserContextOptions, Page } from 'playwright-core' */

const CHROMIUM = '/usr/bin/chromium'
const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js')

/** @param {import('vitest').TestContext} context skipped where there is no browser @returns {Promise<Browser>} */
export async function launchBrowser(context) {
  if (!existsSync(CHROMIUM)) context.skip(`needs chromium, which cannot be had here: there is no ${CHROMIUM}`)
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
}

/**
 * @param {Browser} browser
 * @param {BrowserContextOptions} [options]
 * @returns {Promise<{ page: Page, complaints: string[] }>} complaints: all that its console says, and what could not be loaded
 */
export async function openPage(browser, options = {}) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, ...options })
  /** @type {string[]} */
  const complaints = []
  page.on('console', message => complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', error => complaints.push(error.message))
  page.on('requestfailed', request => {
    const why = request.failure()?.errorText
    // The page closes its own stream of events when the run has ended: no failure.
    if (!(request.url().endsWith('/events') && why === 'net::ERR_ABORTED')) complaints.push(`${request.url()}: ${why}`)
  })
  return { page, complaints }
}

/**
 * Holds a page to the rules of axe.
 * @param {Page} page @returns {Promise<string[]>} each rule that is broken, and the first elements that break it
 */
export async function listAxeViolations(page) {
  await page.evaluate(readFileSync(AXE, 'utf8'))
  const { violations } = /** @type {any} */ (await page.evaluate('axe.run()'))
  return violations.map(
    (/** @type {any} */ { id, nodes }) => `${id}: ${nodes.map((/** @type {any} */ n) => n.html).slice(0, 3)}`,
  )
}

/** A report's first screen holds the answer, its picture, its table, and what was not measured. @param {Page} page 1280 by 800 */
export async function expectOnFirstScreen(page, { hasLimits = true } = {}) {
  const parts = page.locator('.answer, #answer .panels svg, #answer tbody tr, #limits li')
  expect(await page.locator('#answer .panels svg').count()).toBe(2)
  if (hasLimits) expect(await page.locator('#limits li').count()).toBeGreaterThan(0)
  for (const part of await parts.all()) {
    const box = await part.boundingBox()
    expect(Number(box?.height)).toBeGreaterThan(0)
    expect(Number(box?.y) + Number(box?.height)).toBeLessThan(800)
  }
}
