import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { summarise } from '../../src/analysis/summarise.js'
import { readRun } from '../../src/records/records.js'
import { renderDecisionPage } from '../../src/report/decision-page.js'
import { readReportFile } from '../../src/verbs/report-assets.js'
import { openReport } from '../../src/verbs/write-report.js'
import { cli } from '../fakes/cli.js'
import { writeFakeRun } from '../fakes/fake-folder.js'
import { createResult } from '../fakes/fake-summary.js'
import { makeFolder } from '../fakes/scratch.js'
import { launchBrowser, listAxeViolations, openPage } from '../real/browser.js'

/** @import { Browser } from 'playwright-core' @import { Document } from '../../src/report/document.js' */

const base = makeFolder('decision-page-test')
const folder = path.join(base, 'run')
const { summary } = writeFakeRun({ folder })
const { manifest } = readRun(folder)
const { document } = openReport({ folder, summary, claims: [] })
const style = readReportFile('page/decision.css')
/** @type {Browser | null} */
let browser = null
afterAll(async () => browser?.close())

/** @param {Partial<Document['answer']>} [answer] */
const render = answer =>
  renderDecisionPage({
    document: { ...document, answer: { ...document.answer, ...answer } },
    summary,
    manifest,
    style,
  })

/** @param {string} page */
const readText = page =>
  page
    .replace(/<style>.*?<\/style>/s, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')

/** Prints a page on paper. @param {import('vitest').TestContext} context @param {string} markup */
async function print(context, markup) {
  browser ??= await launchBrowser(context)
  const { page, complaints } = await openPage(browser, { offline: true, viewport: { width: 794, height: 1123 } })
  await page.setContent(markup)
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString('latin1')
  const [, width, height] = (/\/MediaBox \[0 0 ([\d.]+) ([\d.]+)\]/.exec(pdf) ?? []).map(Number)
  await page.emulateMedia({ media: 'print' })
  const heightMm = await page.evaluate(() => (globalThis.document.body.getBoundingClientRect().height * 25.4) / 96)
  return { page, complaints, heightMm, pages: pdf.match(/\/Type\s*\/Page\b/g)?.length, width, height }
}

describe('the page for a decision', () => {
  it('has the question, the answer, a table, two charts, the conditions, and what it does not say', () => {
    const page = render()
    const text = readText(page)
    expect(text).toContain(document.question)
    expect(page).toContain(`<h1>${document.answer.verdicts[0]}</h1>`)
    expect(page.match(/<table/g)).toHaveLength(1)
    expect(page.match(/<figure>/g)).toHaveLength(2)
    expect(text).toContain('CPU per request (less is better)')
    expect(text).toMatch(/Machine .*CPUs?, .*share it/)
    expect(text).toMatch(/What this page does not say .*What other requests cost/)
    for (const word of ['sidecar', 'CPU per request']) expect(text).toContain(`${word} : `)
  })

  it('speaks no word that only this kit uses', () => {
    expect(
      readText(render()).match(
        /\b((?<!control )planes?|arms?|cap|gates?|turns|parity|spoiled|rounds?|held|bound by)\b/,
      )?.[0],
    ).toBeUndefined()
  })

  it('shows what sidecars used and their limits, of a size', () => {
    const answer = {
      ...{
        state: 'confirmed',
        why: 'all',
        requestCores: 0.06,
        met: 3,
        missed: 0,
        notJudged: 0,
        p99Ms: 40,
        p99BoundMs: 50,
        trials: [],
      },
      limits: { cores: 0.0704, bytes: 30 * 2 ** 20 },
      need: { cores: 0.0495, bytes: 19.2 * 2 ** 20 },
    }
    const sizes = /** @type {any} */ ([
      { plane: 'pipy', profile: null, control: null, variant: null, services: [], answer },
    ])
    const page = renderDecisionPage({
      document,
      summary: { ...summary, results: [createResult({ kind: 'search', sizes, searches: [] })] },
      manifest,
      style,
    })
    expect(page).toContain('CPU: average use, and limit: pipy used 50m; pipy limit 71m')
    expect(page).toContain('Memory: most used, and limit: pipy used 20Mi; pipy limit 30Mi')
    expect(readText(page)).toContain('What another machine needs')
  })

  it('is printed on one page of A4, light, without a complaint', async context => {
    const { page, complaints, pages, width, height } = await print(context, render())
    expect(pages).toBe(1)
    expect([width, height].map(Math.round)).toEqual([595, 842])
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await page.evaluate(() => getComputedStyle(globalThis.document.body).backgroundColor)).toBe(
      'rgb(255, 255, 255)',
    )
    expect(await listAxeViolations(page)).toEqual([])
    expect(complaints).toEqual([])
  })

  it('stays on one page with any content', async context => {
    const long = 'a sentence that goes on and on, as one about many proxies does, '.repeat(8)
    const [picture] = document.answer.pictures
    const { pages, heightMm } = await print(
      context,
      render({
        verdicts: Array.from({ length: 9 }, () => long),
        basis: [long, long, long],
        warnings: Array.from({ length: 9 }, (_, i) => `${i} ${long}`),
        notMeasured: Array.from({ length: 9 }, (_, i) => ({ what: `${i} ${long}`, why: long, commands: [] })),
        pictures: Array.from({ length: 3 }, () => ({
          ...picture,
          rows: Array.from({ length: 8 }, (_, i) => ({
            ...picture.rows[i % picture.rows.length],
            label: `proxy:profile ${i}`,
          })),
        })),
      }),
    )
    // 297 mm, without margins.
    expect(heightMm).toBeLessThan(271)
    expect(pages).toBe(1)
  })

  it('is written by report --page', async () => {
    const out = path.join(base, 'out')
    expect(await cli('report', folder, '--page', '--out', out)).toMatchObject({
      exitCode: 0,
      stdout: path.join(out, 'decision.html'),
    })
    expect((await cli('report', folder, '--page', '--json')).stderr).toContain('cannot be used with')
  })

  it('is there for runs of older versions', () => {
    for (const name of ['load', 'search', 'turns', 'rollout', 'growth']) {
      const old = path.join('test/fixtures/runs', name)
      const run = readRun(old)
      const of = summarise(run)
      const opened = openReport({ folder: old, summary: of, claims: [], run })
      const page = renderDecisionPage({
        document: opened.document,
        summary: of,
        manifest: run.manifest,
        style,
      })
      expect(readText(page)).toContain('What was measured, and how')
      expect(readText(page)).toContain(name === 'rollout' ? 'What applications and the work' : 'What applications')
    }
  })
})
