import { z } from 'zod'
import { QUANTITIES } from '../../judge/quantities.js'
import { suggest } from '../../lib/nearest.js'
import { parseYaml } from '../../lib/yaml.js'
import { AXES, AXIS_NAMES } from '../../model/axes.js'
import { ALGORITHMS, BALANCE_QUANTITIES, SIZES } from '../../model/balance.js'
import { failureReason } from '../../model/schemas.js'
import { CLAIM_QUANTITIES, NOT_TESTABLE } from './answers.js'
import { testBalance } from './balance.js'
import { testGrowth } from './growth.js'
import { testPlateau } from './plateau.js'
import { testRatio } from './ratio.js'
import { SHAPES, testShape } from './shape.js'

/** Published numbers, and whether runs here show the same. Pure. */
/** @import { AxisName, BalanceSummary, Summary } from '../../model/types.ts' */
/** @import { Answer } from './answers.js' */
/** @import { BalanceRatio } from './balance.js' */

const words = z.string().min(1)
const read = z.enum(['table', 'text', 'chart'])
const quantity = z
  .string()
  .refine(name => !QUANTITIES[name]?.isEstimate, {
    error: ({ input }) => `${input} is an estimate, and no claim is judged by one: name a measured quantity`,
  })
  .pipe(oneOf('quantity', Object.keys(CLAIM_QUANTITIES)))
const selector = z.strictObject({
  plane: words,
  /** The sidecar, where the quantity is of one. */
  service: words.optional(),
  .../** @type {Record<AxisName, z.ZodOptional<any>>} */ (
    Object.fromEntries(AXIS_NAMES.map(name => [name, AXES[name].schema.optional()]))
  ),
})
// The most that a run at other caps than the published may show: the ratio, its direction, or nothing.
const otherCaps = z.enum(['ratio', 'direction', 'never']).default('ratio')
const tolerance = z.number().positive()
const assignment = z.strictObject({ algorithm: oneOf('algorithm', Object.keys(ALGORITHMS)), sizes: z.enum(SIZES) })

const relation = z
  .strictObject({
    ratio: z
      .strictObject({
        quantity,
        of: selector,
        to: selector,
        otherCaps,
        /** The quantity of the second arm, where it is another. */
        toQuantity: quantity.optional(),
        ratio: z.number().positive(),
        tolerance,
      })
      .optional(),
    shape: z
      .strictObject({
        shape: oneOf('shape', SHAPES),
        quantity,
        over: oneOf('axis', ['plane', ...AXIS_NAMES]),
        /** The selector has no plane where that is the axis. */
        among: selector.partial(),
        tolerance: tolerance.default(0.15),
      })
      .refine(({ over, among }) => over === 'plane' || among.plane !== undefined, 'among names no plane')
      .optional(),
    plateau: z
      .strictObject({
        quantity,
        over: oneOf('axis', AXIS_NAMES),
        among: selector,
        before: z.number(),
        from: z.number(),
      })
      .optional(),
    /** A ratio of two assignments of items to shards. */
    balance: z
      .strictObject({
        quantity: oneOf('quantity', Object.keys(BALANCE_QUANTITIES)),
        of: assignment,
        to: assignment,
        items: z.int().positive(),
        shards: z.int().positive(),
        ratio: z.number().positive(),
        tolerance,
      })
      .optional(),
    /** The growth of a control plane that is given more and more sidecars. */
    growth: z
      .strictObject({
        among: selector,
        tolerance: tolerance.default(0.15),
        failsAt: z.int().positive().optional(),
        reason: failureReason.optional(),
        quantity: quantity.optional(),
        value: z.number().positive().optional(),
        steps: z
          .array(z.strictObject({ sidecars: z.int().positive(), leastSeconds: z.number(), mostSeconds: z.number() }))
          .min(2)
          .optional(),
      })
      .refine(
        ({ failsAt, quantity: sized, value, steps }) =>
          [failsAt, sized, steps].filter(given => given !== undefined).length === 1 &&
          (sized === undefined) === (value === undefined),
        'give one of failsAt, quantity with its value, and steps',
      )
      .optional(),
    untestable: z.strictObject({ why: words }).optional(),
  })
  .refine(kinds => Object.keys(kinds).length === 1, 'give one of ratio, shape, plateau, balance, growth and untestable')

/** @param {string[]} [experiments] absent: not checked */
function createSchema(experiments) {
  const experiment = (experiments ? oneOf('experiment', experiments) : words).nullable()
  return z.strictObject({
    source: z.strictObject({
      title: words,
      publisher: words,
      did: words,
      read,
      /** null: it is not known. */
      hardware: words.nullable(),
      /** Differences between their setup and ours. */
      unlike: words.optional(),
    }),
    /** The experiment of ours that can test it; null: none. */
    experiment,
    claims: z.record(
      z.string().regex(/^[a-z][a-z0-9-]*$/, 'a claim is named in lower case, with digits and hyphens'),
      z.strictObject({
        says: words,
        /** Given where it is not the source's. */
        read: read.optional(),
        /** Given where it is not the file's. */
        experiment: experiment.optional(),
        published: z.array(z.strictObject({ label: words, value: z.number(), unit: words })),
        relation,
      }),
    ),
  })
}

/**
 * @typedef {z.infer<ReturnType<typeof createSchema>>} Written
 * @typedef {z.infer<typeof relation>} Relation
 * @typedef {{ id: string, says: string, read: string, experiment: string | null, relation: Relation,
 *   published: { label: string, value: number, unit: string }[] }} Claim
 * @typedef {{ file: string, source: Written['source'], claims: Claim[] }} ClaimsFile
 */

/**
 * A claim and what runs here say to it; ours: our number, null where there is none.
 * @typedef {Omit<Claim, 'relation'> & Answer & { file: string, source: Written['source'], theirs: string | null,
 *   runId: string | null }} ClaimResult
 */

/**
 * @param {string} text YAML
 * @param {string} file its name, for errors
 * @param {{ experiments?: string[] }} [known] the names of all experiments; absent: not checked
 * @returns {ClaimsFile}
 * @throws {import('../../lib/errors.js').UsageError}
 */
export function parseClaims(text, file, { experiments } = {}) {
  const written = parseYaml({ text, file, schema: createSchema(experiments) })
  const claims = Object.entries(written.claims).map(([id, claim]) => ({
    id,
    read: written.source.read,
    experiment: written.experiment,
    ...claim,
  }))
  return { file, source: written.source, claims: /** @type {Claim[]} */ (claims) }
}

/**
 * Every claim with the best answer that the runs give: one that could be tested before one that could not, of several
 * the last; where they are not of one mind, the reason says so.
 * @param {{ files: ClaimsFile[], summaries: (Summary | BalanceSummary)[] }} options summaries: of the runs, the last one last
 * @returns {ClaimResult[]}
 */
export function evaluateClaims({ files, summaries }) {
  return files.flatMap(({ file, source, claims }) =>
    claims.map(({ relation, ...claim }) => {
      const runs = relation.untestable
        ? []
        : summaries.filter(
            s => s.run.experiment === claim.experiment && 'kind' in s === (relation.balance !== undefined),
          )
      const answers = runs.map(summary => ({ ...testRelation(relation, summary), runId: summary.run.id }))
      const best = answers.length > 0 ? chooseAnswer(answers) : explainLack(relation, claim)
      return { ...claim, file, source, theirs: sayTheirs(relation, claim.read), ...best }
    }),
  )
}

/**
 * @param {Relation} relation
 * @param {Summary | BalanceSummary} summary a run of `balance` where the relation is of assignments
 * @returns {Answer}
 */
function testRelation({ ratio, shape, plateau, balance, growth }, summary) {
  if ('kind' in summary) return testBalance(/** @type {BalanceRatio} */ (balance), summary)
  if (ratio) return testRatio(ratio, summary)
  if (plateau) return testPlateau(plateau, summary)
  if (growth) return testGrowth(growth, summary)
  return testShape(/** @type {NonNullable<typeof shape>} */ (shape), summary)
}

/** @param {Relation} relation @param {{ experiment: string | null }} claim @returns {Answer & { runId: null }} */
function explainLack({ untestable }, { experiment }) {
  const reason = untestable?.why ?? (experiment ? `no run of ${experiment}` : 'no experiment of the kit tests it')
  return { status: NOT_TESTABLE, ours: null, reason, runId: null }
}

/** @param {(Answer & { runId: string })[]} answers of one claim, at least one */
function chooseAnswer(answers) {
  const tested = answers.filter(a => a.status !== NOT_TESTABLE)
  const best = /** @type {Answer & { runId: string }} */ (tested.at(-1) ?? answers.at(-1))
  const others = tested.filter(a => a.status !== best.status).map(a => `${a.runId}: ${a.status}, ${a.ours}`)
  return { ...best, reason: [best.reason, ...others].filter(Boolean).join('; ') }
}

/** @param {Relation} relation @param {string} read */
function sayTheirs({ ratio, shape, plateau, balance, growth }, read) {
  const how = read === 'chart' ? ', read off a chart' : ''
  const given = ratio ?? balance
  if (given) return `${Number(given.ratio.toPrecision(3))} (±${showTolerance(given.tolerance)}${how})`
  if (plateau) return `plateau over ${AXES[/** @type {AxisName} */ (plateau.over)].label} from ${plateau.from} on`
  if (growth) return sayGrowth(growth)
  if (!shape) return null
  const limit = ['flat', 'line', 'bends'].includes(shape.shape) ? `±${showTolerance(shape.tolerance)}` : ''
  const brackets = limit || how ? ` (${`${limit}${how}`.replace(/^, /, '')})` : ''
  return `${shape.shape} over ${shape.over === 'plane' ? 'the planes' : AXES[/** @type {AxisName} */ (shape.over)].label}${brackets}`
}

/** @param {NonNullable<Relation['growth']>} growth */
function sayGrowth({ failsAt, reason, quantity: name, value, steps, tolerance }) {
  if (steps) return steps.map(s => `${s.leastSeconds} to ${s.mostSeconds} s at ${s.sidecars} sidecars`).join(', ')
  const theirs =
    failsAt === undefined
      ? `${CLAIM_QUANTITIES[String(name)].label} ${CLAIM_QUANTITIES[String(name)].format(Number(value))}`
      : `fails at ${failsAt} sidecars${reason ? `: ${reason}` : ''}`
  return `${theirs} (±${showTolerance(tolerance)})`
}

/** @param {number} share */
function showTolerance(share) {
  return `${Number((100 * share).toFixed(1))} %`
}

/** One of some names; the error says the nearest. @param {string} kind @param {string[]} names */
function oneOf(kind, names) {
  return z.string().refine(name => names.includes(name), {
    error: issue => `unknown ${kind} "${issue.input}"${suggest(String(issue.input), names)}`,
  })
}
