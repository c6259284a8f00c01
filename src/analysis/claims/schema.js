import { z } from 'zod'
import { renderSuggestion } from '../../lib/nearest.js'
import { AXES, AXIS_NAMES } from '../../model/arms.js'
import { ALGORITHM_NAMES, SIZES } from '../../model/balance.js'
import { BALANCE_NAMES } from '../../model/balance-quantities.js'
import { failureReason } from '../../model/schemas.js'
import { CLAIM_QUANTITIES } from './answers.js'

/** Defines the schema of a file of claims. Pure. @import { AxisName } from '../../model/types.ts' */

export const SHAPES = /** @type {const} */ (['rises', 'falls', 'flat', 'line', 'bends'])

const nonEmptyText = z.string().min(1)
const read = z.enum(['table', 'text', 'chart'])
const count = z.int().positive()
const quantity = createNameSchema('quantity', Object.keys(CLAIM_QUANTITIES))
const selector = z.strictObject({
  plane: nonEmptyText,
  /** The service whose sidecar has the quantity; absent: all sidecars. */
  service: nonEmptyText.optional(),
  .../** @type {Record<AxisName, z.ZodOptional<any>>} */ (
    Object.fromEntries(AXIS_NAMES.map(name => [name, AXES[name].schema.optional()]))
  ),
})
const tolerance = z.number().positive()
const isNumericAxis = (/** @type {string} */ over) => {
  /** @type {any} */
  const schema = AXES[/** @type {AxisName} */ (over)]?.schema
  // The name of an unknown axis is refused on its own.
  return over !== 'plane' && (schema === undefined || (schema.def.innerType ?? schema).def.type === 'number')
}
const assignment = z.strictObject({ algorithm: createNameSchema('algorithm', ALGORITHM_NAMES), sizes: z.enum(SIZES) })

const ratio = z.strictObject({
  quantity,
  of: selector,
  to: selector,
  /** The most that a run at other CPU limits than the published can show: the ratio, its direction, or nothing. */
  otherCaps: z.enum(['ratio', 'direction', 'never']).default('ratio'),
  /** The quantity of the second arm; absent: the same. */
  toQuantity: quantity.optional(),
  ratio: z.number().positive(),
  tolerance,
})

const shape = z
  .strictObject({
    shape: createNameSchema('shape', SHAPES),
    quantity,
    over: createNameSchema('axis', ['plane', ...AXIS_NAMES]),
    /** Its plane may be absent only if the axis is the plane. */
    among: selector.partial(),
    /**
     * A fraction. flat: of the minimum, by which the maximum may exceed it; line and bends: of the rise, by which a point may be off
     * the straight line.
     */
    tolerance: tolerance.default(0.15),
  })
  .refine(({ over, among }) => over === 'plane' || among.plane !== undefined, 'among names no plane')
  .refine(
    ({ shape, over }) => (shape !== 'line' && shape !== 'bends') || isNumericAxis(over),
    'a line needs an axis of numbers',
  )

const plateau = z.strictObject({
  quantity,
  over: createNameSchema('axis', AXIS_NAMES),
  among: selector,
  /** Published values of the axis: `before` is the last below the plateau, and `from` is the first on it. */
  before: z.number(),
  from: z.number(),
})

const balance = z.strictObject({
  quantity: createNameSchema('quantity', BALANCE_NAMES),
  of: assignment,
  to: assignment,
  items: count,
  shards: count,
  ratio: z.number().positive(),
  tolerance,
})

const growth = z
  .strictObject({
    among: selector,
    tolerance: tolerance.default(0.15),
    /** The control plane fails at this number of sidecars. */
    failsAt: count.optional(),
    reason: failureReason.optional(),
    quantity: quantity.optional(),
    /** Its unit is that of the quantity's header. */
    value: z.number().positive().optional(),
    steps: z
      .array(z.strictObject({ sidecars: count, leastSeconds: z.number(), mostSeconds: z.number() }))
      .min(2)
      .optional(),
  })
  .refine(
    ({ failsAt, quantity: name, value, steps }) =>
      [failsAt, name, steps].filter(field => field !== undefined).length === 1 &&
      (name === undefined) === (value === undefined),
    'give one of failsAt, quantity with its value, and steps',
  )

const relation = z
  .strictObject({ ratio, shape, plateau, balance, growth, untestable: z.strictObject({ why: nonEmptyText }) })
  .partial()
  .refine(kinds => Object.keys(kinds).length === 1, 'give one of ratio, shape, plateau, balance, growth and untestable')

/**
 * Creates the schema of a file of claims.
 * @param {string[]} [experiments] the known names; absent: names are not checked
 * @returns a Zod schema; `WrittenClaims` is its type
 */
export function createClaimsSchema(experiments) {
  const experiment = (experiments ? createNameSchema('experiment', experiments) : nonEmptyText).nullable()
  return z.strictObject({
    source: z.strictObject({
      title: nonEmptyText,
      publisher: nonEmptyText,
      did: nonEmptyText,
      read,
      /** null: not known. */
      hardware: nonEmptyText.nullable(),
      /** How their setup differs from ours. */
      unlike: nonEmptyText.optional(),
    }),
    /** The experiment of the kit that can test the claims; null: none can. */
    experiment,
    /** For a plane that the claims name, the profile that a mesh deploys: `{ envoy: envoy:istio }`. */
    deployed: z.record(nonEmptyText, nonEmptyText).optional(),
    claims: z.record(
      z.string().regex(/^[a-z][a-z0-9-]*$/, 'a claim is named in lower case, with digits and hyphens'),
      z.strictObject({
        says: nonEmptyText,
        /** How the numbers were read: off a table, a text or a chart. Absent: as those of the source. */
        read: read.optional(),
        /** Absent: that of the file. */
        experiment: experiment.optional(),
        published: z.array(z.strictObject({ label: nonEmptyText, value: z.number(), unit: nonEmptyText })),
        relation,
      }),
    ),
  })
}

/**
 * Creates a schema of names; its error suggests the nearest name.
 * @template {string} Name
 * @param {string} kind of the names, for the error
 * @param {readonly Name[]} names
 * @returns {z.ZodType<Name, string>}
 */
function createNameSchema(kind, names) {
  const schema = z.string().refine(name => names.some(known => known === name), {
    error: issue => `unknown ${kind} "${issue.input}"${renderSuggestion(String(issue.input), [...names])}`,
  })
  return /** @type {z.ZodType<Name, string>} */ (/** @type {unknown} */ (schema))
}

/**
 * @typedef {z.infer<ReturnType<typeof createClaimsSchema>>} WrittenClaims
 * @typedef {z.infer<typeof relation>} Relation
 * @typedef {Partial<z.infer<typeof selector>>} Selector what an arm must have
 * @typedef {z.infer<typeof ratio>} Ratio
 * @typedef {z.infer<typeof shape>} Shape
 * @typedef {z.infer<typeof plateau>} Plateau
 * @typedef {z.infer<typeof balance>} BalanceRatio
 * @typedef {z.infer<typeof growth>} GrowthClaim
 */
