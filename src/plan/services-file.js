import { z } from 'zod'
import { readBytes, readMilliseconds } from '../lib/units.js'
import { parseYaml } from '../lib/yaml.js'
import { LOAD_AXES } from '../model/axes/load.js'
import { p99Ms } from '../model/bounds.js'

/** The file of `size -f`: services, and what each has to hold. Pure. */

const SERVICES_MOST = 50

const schema = z.strictObject({
  services: z
    .array(
      z.strictObject({
        name: z
          .string()
          .max(50, 'at most 50 characters')
          .regex(/^[a-z]([-a-z0-9]*[a-z0-9])?$/, 'lower case letters, digits and hyphens, such as orders-v2'),
        requestsPerSecond: LOAD_AXES.ratePerSecond.schema,
        p99: readWith(readMilliseconds, 'a time such as 20ms or 1.5s is needed').pipe(p99Ms).optional(),
        payload: readWith(readBytes, 'a size such as 1KiB is needed').pipe(LOAD_AXES.payloadBytes.schema).optional(),
      }),
    )
    .min(1, 'at least one service is needed')
    .max(SERVICES_MOST, `at most ${SERVICES_MOST} services: split the file`)
    .refine(services => new Set(services.map(s => s.name)).size === services.length, 'two services have the same name'),
})

/** What a service has to hold; null: it says none. */
/** @typedef {{ name: string, ratePerSecond: number, p99Ms: number | null, payloadBytes: number | null }} ServiceLoad */

/** Reads the services; throws UsageError. @param {string} text YAML @param {string} file @returns {ServiceLoad[]} */
export function parseServices(text, file) {
  return parseYaml({ text, file, schema }).services.map(({ name, requestsPerSecond, p99, payload }) => ({
    name,
    ratePerSecond: requestsPerSecond,
    p99Ms: p99 ?? null,
    payloadBytes: payload ?? null,
  }))
}

/** @param {(text: string) => number | null} read null: it is none @param {string} needed */
function readWith(read, needed) {
  return z.string(needed).transform((text, context) => {
    const value = read(text)
    if (value !== null) return value
    context.addIssue({ code: 'custom', message: needed })
    return z.NEVER
  })
}
