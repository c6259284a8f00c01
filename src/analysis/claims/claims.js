import { parseYaml } from '../../lib/yaml.js'
import { AXES } from '../../model/arms.js'
import { moderniseQuestion } from '../../model/old-words.js'
import { CLAIM_QUANTITIES, createUntestableAnswer, NOT_TESTABLE } from './answers.js'
import { testBalance } from './balance.js'
import { testGrowth } from './growth.js'
import { testPlateau, testRatio, testShape } from './relations.js'
import { createClaimsSchema } from './schema.js'

/** Published numbers, and the answers of runs here. Pure. @import { Answer } from './answers.js' */
/** @import { BalanceSummary, Summary } from '../../model/types.ts' */
/** @import { BalanceRatio, Relation, Selector, Shape, WrittenClaims } from './schema.js' */
/** @typedef {Required<WrittenClaims['claims'][string]> & { id: string }} Claim */
/** @typedef {{ file: string, source: WrittenClaims['source'], deployed?: WrittenClaims['deployed'], claims: Claim[] }} ClaimsFile */

/**
 * @typedef {object} AnsweredClaim
 * @property {string} file of the claim
 * @property {WrittenClaims['source']} source
 * @property {string | null} theirs the published number in words; null: it cannot be tested anywhere
 * @property {string | null} runId of the run that answered; null: no run of its experiment is here
 * @property {true} [isDeployed] answered by contenders as meshes deploy them, else by lean ones
 */

/**
 * A claim and the answer of runs here.
 * @typedef {Omit<Claim, 'relation'> & Answer & AnsweredClaim} ClaimResult
 */

/**
 * Parses a file of claims (YAML). A claim without its own `read` and `experiment` has those of the file.
 * @param {string} text
 * @param {string} file its path, for errors
 * @param {{ experiments?: string[] }} [known] experiments: their names; absent: names are not checked
 * @returns {ClaimsFile}
 * @throws {UsageError} for another form, or an experiment that is not known
 */
export function parseClaims(text, file, { experiments } = {}) {
  const { source, experiment, deployed, claims } = parseYaml({
    text,
    file,
    schema: createClaimsSchema(experiments),
    modernise: moderniseQuestion,
  })
  const usual = { read: source.read, experiment }
  return { file, source, deployed, claims: Object.entries(claims).map(([id, claim]) => ({ id, ...usual, ...claim })) }
}

/**
 * Answers each claim by the last run of its experiment that can test it, else by the last; the reason lists runs with other
 * answers. A claim without a run is not testable. It has a second result if a run tests it with the contenders that meshes deploy.
 * @param {{ files: ClaimsFile[], summaries: (Summary | BalanceSummary)[] }} options by time
 * @returns {ClaimResult[]}
 */
export function evaluateClaims({ files, summaries }) {
  return files.flatMap(({ file, source, deployed, claims }) =>
    claims.flatMap(({ relation, ...claim }) => {
      const runs = relation.untestable
        ? []
        : summaries.filter(
            s => s.run.experiment === claim.experiment && 'kind' in s === (relation.balance !== undefined),
          )
      const test = (/** @type {Relation} */ tested) =>
        runs.map(summary => ({ ...testRelation(tested, summary), runId: summary.run.id }))
      const described = { ...claim, file, source, theirs: renderPublished(relation, claim.read) }
      const answers = test(relation)
      const lack = claim.experiment ? `no run of ${claim.experiment}` : 'no experiment of the kit tests it'
      const untried = { ...createUntestableAnswer(relation.untestable?.why ?? lack), runId: null }
      const best = answers.length > 0 ? chooseAnswer(answers) : untried
      const published = deployed && deployRelation(relation, deployed)
      const tested = published ? test(published).filter(({ status }) => status !== NOT_TESTABLE) : []
      const ofDeployed =
        tested.length > 0 ? [{ ...described, ...chooseAnswer(tested), isDeployed: /** @type {const} */ (true) }] : []
      return [{ ...described, ...best }, ...ofDeployed]
    }),
  )
}

/**
 * Rewrites a relation for the contenders that meshes deploy, with redirected connections; null: it is of no planes.
 * @param {Relation} relation
 * @param {Record<string, string>} deployed by plane
 * @returns {Relation | null}
 */
function deployRelation({ ratio, shape, plateau }, deployed) {
  const deployArm = (/** @type {Selector} */ { plane = '', ...selector }) =>
    /** @type {any} */ ({ ...selector, plane: deployed[plane] ?? plane, interception: 'redirect' })
  if (ratio) return { ratio: { ...ratio, of: deployArm(ratio.of), to: deployArm(ratio.to) } }
  if (plateau) return { plateau: { ...plateau, among: deployArm(plateau.among) } }
  return shape?.among.plane === undefined ? null : { shape: { ...shape, among: deployArm(shape.among) } }
}

/**
 * @param {Relation} relation
 * @param {Summary | BalanceSummary} summary
 */
function testRelation({ ratio, shape, plateau, balance, growth }, summary) {
  if ('kind' in summary) return testBalance(/** @type {BalanceRatio} */ (balance), summary)
  if (ratio) return testRatio(ratio, summary)
  if (plateau) return testPlateau(plateau, summary)
  if (growth) return testGrowth(growth, summary)
  return testShape(/** @type {Shape} */ (shape), summary)
}

/**
 * Takes the last answer that tests the claim, else the last.
 * @param {(Answer & { runId: string })[]} answers of one claim, at least one
 */
function chooseAnswer(answers) {
  const tested = answers.filter(a => a.status !== NOT_TESTABLE)
  const best = /** @type {Answer & { runId: string }} */ (tested.at(-1) ?? answers.at(-1))
  const others = tested.filter(a => a.status !== best.status).map(a => `${a.runId}: ${a.status}, ${a.ours}`)
  return { ...best, reason: [best.reason, ...others].filter(Boolean).join('; ') }
}

/**
 * Renders what was published; null: no number, since the claim is untestable.
 * @param {Relation} relation
 * @param {string} read
 */
function renderPublished({ ratio, shape, plateau, balance, growth }, read) {
  const how = read === 'chart' ? ', read off a chart' : ''
  const numeric = ratio ?? balance
  if (numeric) return `${Number(numeric.ratio.toPrecision(3))} (±${renderTolerance(numeric.tolerance)}${how})`
  if (plateau) return `plateau over ${AXES[plateau.over].label} from ${plateau.from} on`
  if (growth) return renderPublishedGrowth(growth)
  if (!shape) return null
  const limit = ['flat', 'line', 'bends'].includes(shape.shape) ? `±${renderTolerance(shape.tolerance)}` : ''
  const brackets = limit || how ? ` (${`${limit}${how}`.replace(/^, /, '')})` : ''
  return `${shape.shape} over ${shape.over === 'plane' ? 'the planes' : AXES[shape.over].label}${brackets}`
}

/**
 * Renders published times of steps, or a size or the number at which it fails with the tolerance.
 * @param {NonNullable<Relation['growth']>} growth
 */
function renderPublishedGrowth({ failsAt, reason, quantity: name, value, steps, tolerance }) {
  if (steps) return steps.map(s => `${s.leastSeconds} to ${s.mostSeconds} s at ${s.sidecars} sidecars`).join(', ')
  const theirs =
    failsAt === undefined
      ? `${CLAIM_QUANTITIES[String(name)].label} ${CLAIM_QUANTITIES[String(name)].format(Number(value))}`
      : `fails at ${failsAt} sidecars${reason ? `: ${reason}` : ''}`
  return `${theirs} (±${renderTolerance(tolerance)})`
}

/** Renders a share in percent, with at most one decimal. @param {number} share */
function renderTolerance(share) {
  return `${Number((100 * share).toFixed(1))} %`
}
