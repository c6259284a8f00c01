import { parseYaml } from '../../lib/yaml.js'
import { AXES } from '../../model/arms.js'
import { moderniseUserFile } from '../../model/old-words.js'
import { CLAIM_QUANTITIES, createUntestableAnswer, NOT_TESTABLE } from './answers.js'
import { testBalance } from './balance.js'
import { testGrowth } from './growth.js'
import { testPlateau } from './plateau.js'
import { testRatio } from './ratio.js'
import { createClaimsSchema } from './schema.js'
import { testShape } from './shape.js'

/** Parses claims of published numbers, and answers them by runs here. Pure. @import { ClaimAnswer } from './answers.js' */
/** @import { BalanceSummary, Summary } from '../../model/types.ts' */
/** @import { BalanceRatio, Relation, Selector, Shape, WrittenClaims } from './schema.js' */
/** @typedef {Required<WrittenClaims['claims'][string]> & { id: string }} Claim */
/** @typedef {{ file: string, source: WrittenClaims['source'], deployed?: WrittenClaims['deployed'], claims: Claim[] }} ClaimsFile */
/** @typedef {ClaimAnswer & { runId: string }} RunAnswer the answer of one run */

/**
 * The fields that an answer adds to a claim.
 * @typedef {object} AnsweredClaim
 * @property {string} file of the claim
 * @property {WrittenClaims['source']} source
 * @property {string | null} theirs the published number in words; null: it cannot be tested anywhere
 * @property {string | null} runId of the run that answered; null: no run of its experiment is here
 * @property {true} [isDeployed] answered by contenders as meshes deploy them, else by lean ones
 */

/**
 * A claim and the answer of runs here.
 * @typedef {Omit<Claim, 'relation'> & ClaimAnswer & AnsweredClaim} ClaimResult
 */

/**
 * Parses a file of claims (YAML). A claim without its own `read` and `experiment` has those of the file.
 * @param {string} text
 * @param {string} file its path, for errors
 * @param {{ experiments?: string[] }} [known] experiments: their names; absent: names are not checked
 * @returns {ClaimsFile}
 * @throws {UsageError} if the text is no YAML, does not fit the schema of claims, or names an experiment that is not known
 */
export function parseClaims(text, file, { experiments } = {}) {
  const { source, experiment, deployed, claims } = parseYaml({
    text,
    file,
    schema: createClaimsSchema(experiments),
    transform: moderniseUserFile,
  })
  const defaults = { read: source.read, experiment }
  return {
    file,
    source,
    deployed,
    claims: Object.entries(claims).map(([id, claim]) => ({ id, ...defaults, ...claim })),
  }
}

/**
 * Answers each claim by the last run of its experiment that can test it, else by the last run; the reason lists runs with other
 * answers.
 * @param {{ files: ClaimsFile[], summaries: (Summary | BalanceSummary)[] }} options summaries: in the order of time
 * @returns {ClaimResult[]} one for each claim, and a second one if a run tests it with the contenders that meshes deploy;
 *   runId: null for a claim without a run, which is not testable
 */
export function evaluateClaims({ files, summaries }) {
  return files.flatMap(file => file.claims.flatMap(claim => evaluateClaim(claim, { file, summaries })))
}

/**
 * Answers one claim.
 * @param {Claim} claim
 * @param {{ file: ClaimsFile, summaries: (Summary | BalanceSummary)[] }} options summaries: in the order of time
 * @returns {ClaimResult[]} one result, and a second one if a run tests it with the contenders that meshes deploy
 */
function evaluateClaim({ relation, ...claim }, { file: { file, source, deployed }, summaries }) {
  const isBalance = relation.balance !== undefined
  const runs = summaries.filter(s => s.run.experiment === claim.experiment && 'kind' in s === isBalance)
  const testInRuns = (/** @type {Relation} */ testedRelation) =>
    runs.map(summary => ({ ...testRelation(testedRelation, summary), runId: summary.run.id }))
  const fields = { ...claim, file, source, theirs: renderPublished(relation, claim.read) }
  const answers = relation.untestable ? [] : testInRuns(relation)
  const answer = answers.length > 0 ? chooseAnswer(answers) : createMissingAnswer(relation, claim.experiment)
  const deployedRelation = deployed && rewriteForDeployed(relation, deployed)
  const deployedAnswers = deployedRelation ? testInRuns(deployedRelation) : []
  const testedAnswers = deployedAnswers.filter(({ status }) => status !== NOT_TESTABLE)
  if (testedAnswers.length === 0) return [{ ...fields, ...answer }]
  return [
    { ...fields, ...answer },
    { ...fields, ...chooseAnswer(testedAnswers), isDeployed: true },
  ]
}

/**
 * Creates the answer to a claim that no run here tests.
 * @param {Relation} relation
 * @param {string | null} experiment that could test it; null: none of the kit does
 * @returns {ClaimAnswer & { runId: null }}
 */
function createMissingAnswer({ untestable }, experiment) {
  const missingRunReason = experiment ? `no run of ${experiment}` : 'no experiment of the kit tests it'
  return { ...createUntestableAnswer(untestable?.why ?? missingRunReason), runId: null }
}

/**
 * Rewrites a relation for the contenders that meshes deploy, with redirected connections.
 * @param {Relation} relation
 * @param {Record<string, string>} deployed contenders by plane
 * @returns {Relation | null} null: it is no ratio, no plateau and no shape of one plane
 */
function rewriteForDeployed({ ratio, shape, plateau }, deployed) {
  const rewriteSelector = (/** @type {Selector} */ { plane = '', ...selector }) =>
    /** @type {any} */ ({ ...selector, plane: deployed[plane] ?? plane, interception: 'redirect' })
  if (ratio) return { ratio: { ...ratio, of: rewriteSelector(ratio.of), to: rewriteSelector(ratio.to) } }
  if (plateau) return { plateau: { ...plateau, among: rewriteSelector(plateau.among) } }
  return shape?.among.plane === undefined ? null : { shape: { ...shape, among: rewriteSelector(shape.among) } }
}

/**
 * Tests a relation by a run.
 * @param {Relation} relation not `untestable`; a `balance` if the run is one of balance
 * @param {Summary | BalanceSummary} summary
 * @returns {ClaimAnswer}
 */
function testRelation({ ratio, shape, plateau, balance, growth }, summary) {
  if ('kind' in summary) return testBalance(/** @type {BalanceRatio} */ (balance), summary)
  if (ratio) return testRatio(ratio, summary)
  if (plateau) return testPlateau(plateau, summary)
  if (growth) return testGrowth(growth, summary)
  return testShape(/** @type {Shape} */ (shape), summary)
}

/**
 * Chooses the last answer that tests the claim, else the last answer; its reason lists the runs with another status.
 * @param {RunAnswer[]} answers of one claim, at least one, in the order of time
 * @returns {RunAnswer}
 */
function chooseAnswer(answers) {
  const testedAnswers = answers.filter(a => a.status !== NOT_TESTABLE)
  const last = /** @type {RunAnswer} */ (testedAnswers.at(-1) ?? answers.at(-1))
  const otherTexts = testedAnswers.filter(a => a.status !== last.status).map(a => `${a.runId}: ${a.status}, ${a.ours}`)
  return { ...last, reason: [last.reason, ...otherTexts].filter(Boolean).join('; ') }
}

/**
 * Renders the published number, or the published shape, plateau or growth.
 * @param {Relation} relation
 * @param {string} reading how the number was read: `table`, `text` or `chart`
 * @returns {string | null} null: the relation is `untestable`
 */
function renderPublished({ ratio, shape, plateau, balance, growth }, reading) {
  const chartNote = reading === 'chart' ? ', read off a chart' : ''
  const numeric = ratio ?? balance
  if (numeric) return `${Number(numeric.ratio.toPrecision(3))} (±${renderTolerance(numeric.tolerance)}${chartNote})`
  if (plateau) return `plateau over ${AXES[plateau.over].label} from ${plateau.from} on`
  if (growth) return renderPublishedGrowth(growth)
  if (!shape) return null
  const limit = ['flat', 'line', 'bends'].includes(shape.shape) ? `±${renderTolerance(shape.tolerance)}` : ''
  const notes = `${limit}${chartNote}`.replace(/^, /, '')
  const axis = shape.over === 'plane' ? 'the planes' : AXES[shape.over].label
  return `${shape.shape} over ${axis}${notes ? ` (${notes})` : ''}`
}

/**
 * Renders published times of steps, or a size or a number at which the control plane fails, with the tolerance.
 * @param {NonNullable<Relation['growth']>} growth
 * @returns {string}
 */
function renderPublishedGrowth({ failsAt, reason, quantity: name, value, steps, tolerance }) {
  if (steps) return steps.map(s => `${s.leastSeconds} to ${s.mostSeconds} s at ${s.sidecars} sidecars`).join(', ')
  const range = `(±${renderTolerance(tolerance)})`
  if (failsAt !== undefined) return `fails at ${failsAt} sidecars${reason ? `: ${reason}` : ''} ${range}`
  const { label, format } = CLAIM_QUANTITIES[String(name)]
  return `${label} ${format(Number(value))} ${range}`
}

/**
 * Renders a share in percent, with at most one decimal: `2.5 %`.
 * @param {number} share
 * @returns {string}
 */
function renderTolerance(share) {
  return `${Number((100 * share).toFixed(1))} %`
}
