import { z } from 'zod'
import { renderSuggestion } from '../../lib/nearest.js'
import { AXES, AXIS_NAMES } from '../../model/arms.js'
import { ALGORITHM_NAMES, SIZES } from '../../model/balance.js'
import { BALANCE_NAMES } from '../../model/balance-quantities.js'
import { failureReason } from '../../model/schemas.js'
import { CLAIM_QUANTITIES } from './answers.js'

/** Defines the schema of a file of claims. Pure. @import { AxisName } from '../../model/types.ts' */

export const SHAPES = /** @type {const} */ (['rises', 'falls', 'flat', 'line', 'bends'])

const words = z.string().min(1)
const read = z.enum(['table', 'text', 'chart'])
const count = z.int().positive()
const quantity = createNameSchema('quantity', Object.keys(CLAIM_QUANTITIES))
const selector = z.strictObject({
  plane: words,
  /** The service whose sidecar has the quantity; absent: all sidecars. */
  service: words.optional(),
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
  /** A run at other caps than the published may show this at most: the ratio, its direction, or nothing. */
  otherCaps: z.enum(['ratio', 'direction', 'never']).default('ratio'),
  /** The second arm has this quantity, if it is another one. */
  toQuantity: quantity.optional(),
  ratio: z.number().positive(),
  tolerance,
})

const shape = z
  .strictObject({
    shape: createNameSchema('shape', SHAPES),
    quantity,
    over: createNameSchema('axis', ['plane', ...AXIS_NAMES]),
    /** It may lack a plane only if the axis is the plane. */
    among: selector.partial(),
    /** It limits the excess of the maximum over the minimum, or the distance of a point from the straight line as a share of the rise. */
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
  /** The plateau was published to begin between these values of the axis: it has the second one. */
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
  .strictObject({ ratio, shape, plateau, balance, growth, untestable: z.strictObject({ why: words }) })
  .partial()
  .refine(kinds => Object.keys(kinds).length === 1, 'give one of ratio, shape, plateau, balance, growth and untestable')

/**
 * Creates the schema of a file of claims.
 * @param {string[]} [experiments] the known names; absent: names are not checked
 * @returns a Zod schema; `WrittenClaims` is its type
 */
export function createClaimsSchema(experiments) {
  const experiment = (experiments ? createNameSchema('experiment', experiments) : words).nullable()
  return z.strictObject({
    source: z.strictObject({
      title: words,
      publisher: words,
      did: words,
      read,
      /** It is null if it is not known. */
      hardware: words.nullable(),
      /** It says how their setup differs from ours. */
      unlike: words.optional(),
    }),
    /** This experiment of the kit can test the claims; null: none can. */
    experiment,
    /** For a plane that the claims name, the profile that a mesh deploys: `{ envoy: envoy:istio }`. */
    deployed: z.record(words, words).optional(),
    claims: z.record(
      z.string().regex(/^[a-z][a-z0-9-]*$/, 'a claim is named in lower case, with digits and hyphens'),
      z.strictObject({
        says: words,
        /** How the numbers were read: off a table, a text or a chart. Absent: as those of the source. */
        read: read.optional(),
        /** Absent: that of the file. */
        experiment: experiment.optional(),
        published: z.array(z.strictObject({ label: words, value: z.number(), unit: words })),
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
