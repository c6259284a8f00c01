import { existsSync } from 'node:fs'
import { chromium } from 'playwright-core'

/**
 * A real browser, for tests of pages.
 * @import { BrowserContextOptions, Page } from 'playwright-core'
 */

const CHROMIUM = '/usr/bin/chromium'

/**
 * @param {import('vitest').TestContext} context skipped where there is no browser
 * @returns {Promise<import('playwright-core').Browser>}
 */
export async function launchBrowser(context) {
  if (!existsSync(CHROMIUM)) context.skip(`needs chromium, which cannot be had here: there is no ${CHROMIUM}`)
  return chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] })
}

/**
 * @param {import('playwright-core').Browser} browser
 * @param {BrowserContextOptions} [options]
 * @returns {Promise<{ page: Page, complaints: string[] }>} complaints: all that its console says, and what could not be loaded
 */
export async function openPage(browser, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
  const page = await context.newPage()
  /** @type {string[]} */
  const complaints = []
  page.on('console', message => complaints.push(`${message.type()}: ${message.text()}`))
  page.on('pageerror', error => complaints.push(error.message))
  page.on('requestfailed', request => {
    const why = request.failure()?.errorText
    // What the page ends itself, when the run has ended, is no failure.
    if (!(request.url().endsWith('/events') && why === 'net::ERR_ABORTED')) complaints.push(`${request.url()}: ${why}`)
  })
  return { page, complaints }
}
