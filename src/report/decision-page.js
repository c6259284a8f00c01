import { capitalise } from '../lib/letters.js'
import { GIB, MIB, renderMinute, renderNounCount } from '../lib/units.js'
import { renderArmName } from '../model/arms.js'
import { renderMillicores } from '../model/container-limits.js'
import { listArms, listSizes } from '../model/results.js'
import { clipText } from './answer/clip.js'
import { renderPath, renderRequests, shortenModel } from './answer/conditions.js'
import { drawPanel, listPanels, renderPictureTable } from './answer/html.js'
import { applyColourVariables } from './charts/style.js'
import { drawSvg, renderShell } from './html-page.js'
import { html, trustMarkup } from './markup.js'
import { listCharts } from './section.js'

/**
 * Renders a run as one page of A4 for a decision, in words that need no page of the kit. Pure.
 * @import { Manifest, SizeResult, Summary } from '../model/types.ts'
 * @import { Document } from './document.js'
 * @import { Markup } from './markup.js'
 * @import { Picture } from '../answer/picture.js'
 */

// Bounds that keep the page to one sheet of A4: counts of parts first, then characters of texts.
const CHARTS_MOST = 2
const BARS_MOST = 8
const ROWS_MOST = 8
const SENTENCES_MOST = 3
const CAVEATS_MOST = 6
const DEFINITIONS_MOST = 8
const SENTENCE_CHARACTERS_MOST = 180
const BASIS_CHARACTERS_MOST = 360
/** More characters than these do not fit on a page in the usual font size. */
const USUAL_CHARACTERS_MOST = 2600
const CHART_HEIGHT_PIXELS = 190
/** Pixels of a chart that takes half of the page's width. */
const WIDTHS = { width: 340, label: 118, value: 84, letters: 16 }

/** Patterns, each with a word and its definition, in the order of their importance. @type {[RegExp, string, string][]} */
const DEFINITIONS = [
  [/sidecar/, 'sidecar', 'a proxy beside each service, through which its requests go'],
  [/\bp99\b/, 'p99', 'the time within which 99 of 100 requests were answered'],
  [/CPU per request/, 'CPU per request', 'CPU time of all sidecars on the way of one request'],
  [/CPU request/, 'CPU request', 'what a scheduler keeps free for a sidecar; a limit is what it may take at most'],
  [/\d(m|Mi)\b/, 'm, Mi', '1000m are one CPU core; 1Mi is 1024 × 1024 bytes'],
  [/95 % CI/, '95 % CI', 'where the true value lies, with 95 % confidence'],
  [/A\/A/, 'A/A', 'the same program measured twice: what differs there is noise'],
  [/mTLS/, 'mTLS', 'both ends of a connection show certificates, and it is encrypted'],
  [/interleaved/, 'interleaved', 'all were measured at the same time, in turns of milliseconds'],
  [/neighbour/, 'neighbour', 'a program that keeps so many CPUs busy, as other pods do on a full node'],
  [/\bnone\b/, 'none', 'the same requests without any sidecar'],
  [/\busers\b/, 'users', 'so many requests at a time: each user waits for an answer before the next'],
  [/\brepeats?\b/, 'repeat', 'all programs were started anew and measured again'],
  [/Equal work/, 'equal work', 'that every proxy treats requests alike was checked first'],
  [/confirmed/, 'confirmed', 'every trial with these limits met the p99, and the next one will by statistics'],
  [/estimated/, 'estimated', 'computed from what was used, and not confirmed by trials'],
]

/**
 * Renders the page: the first verdicts, the pictures as tables, at most CHARTS_MOST charts, conditions and caveats, all cut so that
 * they fit on A4.
 * @param {object} run
 * @param {Document} run.document
 * @param {Summary} run.summary
 * @param {Manifest} run.manifest
 * @param {string} run.style CSS
 * @returns {string} HTML
 */
export function renderDecisionPage({ document, summary, manifest, style }) {
  const { answer, question, startedAt } = document
  const [headline, ...otherVerdicts] = answer.verdicts
  const pictures = cutPictures(answer.pictures)
  const cutRowCount = countRows(answer.pictures) - countRows(pictures)
  const conditions = listConditions({ summary, manifest, startedAt })
  const basis = [...answer.basis, ...(answer.notes ?? []), ...answer.warnings.slice(0, SENTENCES_MOST)].join(' ')
  const caveats = listCaveats({ document, summary })
  const body = html`<header>
<p class="question">${question}</p>
<h1>${clipText(headline, SENTENCE_CHARACTERS_MOST)}</h1>
${otherVerdicts.slice(0, SENTENCES_MOST - 1).map(line => html`<p>${clipText(line, SENTENCE_CHARACTERS_MOST)}</p>`)}
</header>
<section>${pictures.map(renderPictureTable)}
${cutRowCount > 0 ? html`<p class="muted">${renderNounCount(cutRowCount, 'more row')}: in the whole report.</p>` : null}</section>
<section class="charts">${drawFigures(document, listSizes(summary))}</section>
<section><h2>What was measured, and how</h2>
<dl>${conditions.map(([name, text]) => html`<dt>${name}</dt><dd>${text}</dd>`)}
${basis ? html`<dt>How sure</dt><dd>${clipText(basis, BASIS_CHARACTERS_MOST)}</dd>` : null}</dl></section>
<section><h2>What this page does not say</h2>
<ul>${caveats.map(line => html`<li>${clipText(line, SENTENCE_CHARACTERS_MOST)}</li>`)}</ul></section>`
  const definitions = listDefinitions(body.markup)
  const isDense = extractText(body.markup).length > USUAL_CHARACTERS_MOST
  return renderShell({
    title: headline,
    style,
    policy: "style-src 'unsafe-inline'; img-src data:",
    body: html`<main${trustMarkup(isDense ? ' class="dense"' : '')}>
${body}
${definitions.length > 0 ? html`<p class="words">${definitions.map(([name, meaning]) => html`<span><b>${name}</b>: ${meaning}. </span>`)}</p>` : null}
<footer>Run ${summary.run.id} of ${startedAt.slice(0, 10)} by sidecar-bench ${manifest.kit.version}. The whole report, with every trial, is report.html in the folder of the run.</footer>
</main>`,
  })
}

/**
 * Cuts pictures to ROWS_MOST rows together.
 * @param {Picture[]} pictures
 * @returns {Picture[]} without pictures that have no room for a row
 */
function cutPictures(pictures) {
  /** @type {Picture[]} */
  const cutCopies = []
  let rowsLeft = ROWS_MOST
  for (const picture of pictures) {
    if (rowsLeft <= 0) break
    cutCopies.push({ ...picture, rows: picture.rows.slice(0, rowsLeft) })
    rowsLeft -= picture.rows.length
  }
  return cutCopies
}

/** Counts the rows of all pictures. @param {Picture[]} pictures @returns {number} */
const countRows = pictures => pictures.reduce((sum, { rows }) => sum + rows.length, 0)

/**
 * Draws panels of the sizes, then of the pictures, that have at least two bars and at most BARS_MOST; charts of the report take
 * the places that are left.
 * @param {Document} document
 * @param {SizeResult[]} sizes
 * @returns {Markup[]} at most CHARTS_MOST figures; [] if nothing can be drawn
 */
function drawFigures({ answer, sections }, sizes) {
  const panels = [...createSizePanels(sizes), ...answer.pictures.flatMap(listPanels)]
    .filter(({ bars }) => bars.length > 1 && bars.length <= BARS_MOST)
    .slice(0, CHARTS_MOST)
  // A chart over time shows only one trial.
  const charts = listCharts(sections.filter(({ id }) => id !== 'over-time')).slice(0, CHARTS_MOST - panels.length)
  return [
    ...panels.map(
      panel =>
        html`<figure>${trustMarkup(drawPanel({ ...panel, title: renderPanelTitle(panel.title) }, WIDTHS))}</figure>`,
    ),
    ...charts.map(
      chart =>
        html`<figure><figcaption>${chart.title}</figcaption>${trustMarkup(applyColourVariables(drawSvg({ ...chart, height: CHART_HEIGHT_PIXELS })))}</figure>`,
    ),
  ]
}

/**
 * Renders the title of a panel; for costs it adds that less is better.
 * @param {string} title of a quantity
 */
const renderPanelTitle = title =>
  `${capitalise(title)}${/^(CPU per request|memory)$/.test(title) ? ' (less is better)' : ''}`

/**
 * Creates panels that compare the CPU and memory that sidecars used with their limits, in m and Mi. In a run with a neighbour,
 * sidecars have a CPU request and no CPU limit, so the request is drawn.
 * @param {SizeResult[]} sizes
 * @returns {ReturnType<typeof listPanels>} two panels; [] if no size has an answer with limits and a need
 */
function createSizePanels(sizes) {
  const answers = sizes.flatMap(size => {
    const { limits, need } = size.answer ?? {}
    return limits && need ? [{ name: renderArmName(size), limits, need }] : []
  })
  if (answers.length === 0) return []
  const limitName = sizes.some(size => size.neighbourCores !== undefined) ? 'request' : 'limit'
  return [
    {
      title: `CPU: average use, and ${limitName}`,
      bars: answers.flatMap(({ name, limits, need }, colour) => [
        createCpuBar({ label: `${name} used`, colour, cores: need.cores }),
        createCpuBar({ label: `${name} ${limitName}`, colour, cores: limits.cores }),
      ]),
    },
    {
      title: 'Memory: most used, and limit',
      bars: answers.flatMap(({ name, limits, need }, colour) => [
        createMemoryBar({ label: `${name} used`, colour, bytes: need.bytes }),
        createMemoryBar({ label: `${name} limit`, colour, bytes: limits.bytes }),
      ]),
    },
  ]
}

/**
 * Creates a bar of cores, whose text has millicores.
 * @param {{ label: string, colour: number, cores: number }} options colour: an index, as in `listPanels`
 */
const createCpuBar = ({ label, colour, cores }) => ({
  ...{ label, colour },
  cell: { text: renderMillicores(cores), value: 1000 * cores },
})

/**
 * Creates a bar of memory, whose text has whole MiB.
 * @param {{ label: string, colour: number, bytes: number }} options colour: an index, as in `listPanels`
 */
const createMemoryBar = ({ label, colour, bytes }) => ({
  ...{ label, colour },
  cell: { text: `${Math.ceil(bytes / MIB)}Mi`, value: bytes / MIB },
})

/**
 * Lists the conditions of a run. Requests and path are left out if nothing was measured; the CPU limit is left out
 * if no arm has sidecars, if arms differ in it, or if it was searched.
 * @param {{ summary: Summary, manifest: Manifest, startedAt: string }} run startedAt: ISO 8601
 * @returns {[string, string][]} labels and texts
 */
function listConditions({ summary, manifest, startedAt }) {
  const { machine, tools } = summary
  const arms = listArms(summary).filter(({ trials }) => trials.completed + trials.failed + trials.invalid > 0)
  const limits = [...new Set(arms.filter(arm => arm.hasSidecars).map(({ cpuLimitCores }) => cpuLimitCores))]
  const programs = Object.values(tools).map(({ name, version }) => `${name} ${version}`)
  /** @type {[string, string][]} */
  const rows = []
  if (arms.length > 0) rows.push(['Requests', renderRequests(arms)], ['On the way', renderPath(arms)])
  if (limits.length === 1 && listSizes(summary).length === 0) rows.push(['CPU limit', renderLimit(limits[0])])
  rows.push(['Machine', renderMachine(machine, manifest.target)])
  rows.push(['Programs', `${programs.join(', ')}; started ${renderMinute(startedAt)} UTC`])
  return rows
}

/**
 * Renders the CPU limit of a sidecar.
 * @param {number | null} cores null: there is no limit
 */
const renderLimit = cores => (cores === null ? 'no limit' : `${renderNounCount(cores, 'core')} for each sidecar`)

/**
 * Renders what was recorded of the machine, and whether the load shares it. Facts that were not recorded are left out.
 * @param {Summary['machine']} machine
 * @param {string} target its name
 * @returns {string}
 */
function renderMachine({ cpuModel, cpus, memoryBytes, kernel, architecture, loadHost }, target) {
  const parts = [
    ...(cpuModel ? [shortenModel(`${cpuModel}`)] : []),
    ...(cpus ? [renderNounCount(Number(cpus), 'CPU')] : []),
    ...(memoryBytes ? [`${(Number(memoryBytes) / GIB).toFixed(0)} GiB`] : []),
    ...[kernel, architecture].flatMap(fact => (fact ? [`${fact}`] : [])),
    ...(target === 'kubernetes' ? ['a node of Kubernetes'] : []),
    loadHost ? `load from ${loadHost.host}` : 'load, applications and sidecars share it',
  ]
  return parts.join(', ')
}

/**
 * Lists what a reader must not conclude: first what this run lacks, then what no run on one machine shows.
 * @param {{ document: Document, summary: Summary }} run
 * @returns {string[]} at most CAVEATS_MOST sentences
 */
function listCaveats({ document: { answer, missing }, summary }) {
  const sizes = listSizes(summary)
  const headings = answer.pictures.flatMap(({ columns }) =>
    columns.map(({ group = '', heading }) => `${group} ${heading}`),
  )
  const hasControlPlane = headings.some(heading => heading.includes('control plane'))
  const hasTimes = headings.some(heading => /\bp\d{2}/.test(heading))
  const gaps = answer.notMeasured.map(
    ({ what, why }) => `${capitalise(what)}: not measured${why ? `, for ${why}` : ''}.`,
  )
  // `gaps` then says that no response times are here.
  const isLatencyNotMeasured = answer.notMeasured.some(({ what }) => /latency/.test(what))
  return [
    ...new Set([
      ...missing.filter(line => !answer.warnings.includes(line)).slice(0, SENTENCES_MOST - 1),
      ...gaps.slice(0, SENTENCES_MOST - 1),
      ...(hasTimes || isLatencyNotMeasured ? [] : ['How long requests take: no response times are here.']),
      sizes.length > 0
        ? 'What another machine needs: a core of it may do less than one of this, and then a sidecar needs more.'
        : 'What another machine would show: the figures are of this one. The ratio between two proxies carries further than they do.',
      'What other requests cost: size, rate, encryption and features such as access logs change all figures.',
      hasControlPlane
        ? 'What applications and the work of people take: they were not counted.'
        : 'What applications, a control plane or the work of people take: only sidecars were counted.',
    ]),
  ].slice(0, CAVEATS_MOST)
}

/**
 * Lists the definitions of words that are on the page: the first DEFINITIONS_MOST of DEFINITIONS.
 * @param {string} markup HTML
 * @returns {string[][]} pairs of word and definition; []: the page has none of the words
 */
function listDefinitions(markup) {
  const text = extractText(markup)
  const definitions = DEFINITIONS.filter(([pattern]) => pattern.test(text)).slice(0, DEFINITIONS_MOST)
  return definitions.map(([, name, meaning]) => [name, meaning])
}

/**
 * Extracts the text of HTML, with one space in the place of each run of tags and white space.
 * @param {string} markup
 * @returns {string}
 */
const extractText = markup => markup.replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')
