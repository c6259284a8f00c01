import { z } from 'zod'
import { count, nullable } from './parts.js'

/** The schema of a load's result, as `parseResult` of its generator returns it. Pure. */

export const distribution = z
  .object({ count, meanMs: z.number(), grid: z.array(z.tuple([z.number(), z.number()])) })
  .describe('[quantile, milliseconds], rising')

export const loadPoint = z.object({
  atSeconds: z.number(),
  seconds: z.number(),
  count,
  p50Ms: nullable,
  p99Ms: nullable,
})

const interleaved = z.object({
  seconds: z.number().positive().describe('of the window in which the users went to this arm'),
  perTenth: z
    .array(count)
    .optional()
    .describe('verified requests by the tenth of a second of the window in which they started'),
  perSecond: z.array(count).optional().describe('of older kits: by the second'),
})

export const loadResult = z.object({
  verified: count.describe('requests that started in the window and were answered rightly'),
  failed: count.describe('requests that started in the window and were not'),
  corrupted: count.describe('bodies or nonces that came back wrong, in the whole trial'),
  verifiedInSecondHalf: z.int(),
  coldUsers: count.describe('users that had not done three requests when the window opened'),
  reportedUsers: count.nullable().describe('users that went through the whole window; null in the open loop'),
  dropped: count.describe('requests of the open loop that found no free user, in the whole trial'),
  lagP99Ms: nullable.describe('how late requests of the open loop started'),
  distribution: distribution.nullable(),
  series: z
    .array(loadPoint)
    .nullable()
    .describe('of bursts: requests by when they started, from the start of the window'),
  due: count
    .optional()
    .describe('requests of the open loop due in the window; absent: the generator did not count them'),
  burst: z
    .object({ due: count, verified: count, failed: count, p99Ms: nullable })
    .optional()
    .describe('requests due in the burst, and those that started in it; absent: there was none, or nobody counted'),
  loud: z
    .object({
      due: count,
      verified: count,
      failed: count.optional().describe('absent: not counted, in results of older kits'),
      failures: z.array(z.string()).optional(),
      quiet: z
        .array(count)
        .optional()
        .describe('requests of the window to each of the other pairs; absent: not counted'),
    })
    .optional()
    .describe('requests of the window to the loud pair, which no other number here counts; absent: no pair is loud'),
  waited: z
    .object({
      count,
      meanMs: z.number().describe('of the service times that the application drew'),
      lateP50Ms: z.number().describe('how much longer than these it waited'),
      lateP99Ms: z.number(),
    })
    .optional()
    .describe('service times of the window, as the application tells them; absent: it has none'),
  kinds: z
    .array(count)
    .optional()
    .describe('requests of each kind of a mix that were sent in the window; absent: there is one kind'),
  wire: z
    .object({ sentBytes: count, receivedBytes: count, requests: count })
    .optional()
    .describe(
      'bytes at the sockets of the generator, with those of TLS, in the whole trial; absent: the generator did not count them',
    ),
  failures: z.array(z.string()),
  interleaved: interleaved.optional().describe('of an arm that was interleaved with others; absent: it had all of it'),
})
