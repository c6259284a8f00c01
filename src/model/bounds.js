import { z } from 'zod'

/**
 * How large and how small a number may be, each limit with its reason, for the command line and for files. Pure.
 */

/** Of a request, at both ends. */
const TIMEOUT_SECONDS = 60

export const ROUNDS_MOST = 10_000

/** How often each arm is measured. A report makes a place for each. */
export const rounds = z.int().positive().max(ROUNDS_MOST, `at most ${ROUNDS_MOST} rounds: they take a day or longer`)

/** How wide the interval of a ratio may be, from end to end, as a share of its low end. */
export const precisionWidth = z
  .number()
  .min(0.001, 'at least 0.1%: what remains is no noise of rounds')
  .max(1, 'at most 100%: a wider interval says nothing')

/** Of the random order of the arms. */
export const seed = z
  .int()
  .min(0)
  .max(2 ** 32 - 1, `at most ${2 ** 32 - 1}: a seed has 32 bits`)

/** Of a warm-up or a window. */
export const lengthSeconds = z.number().positive().max(86_400, 'at most 86400 s, a day')

/** The highest p99 that counts as held. */
export const p99Ms = z
  .number()
  .positive()
  .max(TIMEOUT_SECONDS * 1000, `at most ${TIMEOUT_SECONDS} s: longer requests have failed`)

/** A number of things that there is at least one of. @param {number} most @param {string} why */
const count = (most, why) => z.int().positive().max(most, `at most ${most}: ${why}`)

/** Sidecars beyond which others are simulated. */
export const realSidecars = z
  .int()
  .min(
    30,
    'at least 30: of fewer, a control plane takes so little that simulated sidecars cannot be told from real ones',
  )

/** The numbers on the axes of an experiment. */
export const ON_AXES = {
  services: count(500, 'the kit has not been tried with more sidecars beside each other'),
  ratePerSecond: z
    .number()
    .min(0.1, 'at least 0.1 requests/s: a p99 at less takes hours')
    .max(1e6, 'at most 1000000 requests/s: one k6 makes fewer'),
  users: count(28_000, 'they connect from one address, which has about 28,000 ports'),
  payloadBytes: count(16 * 2 ** 20, 'k6 holds a body of every user in memory'),
  burstSeconds: z.number().positive().max(3600, 'at most 3600 s, an hour'),
  workers: count(1024, 'each is a thread, and no machine has as many CPUs'),
  configuredServices: z.int().min(0).max(65_536, 'at most 65536: they have the addresses of 198.18.0.0/16'),
  memoryLimitBytes: z
    .int()
    .min(2 ** 20, 'at least 1MiB: with less no program starts')
    .max(2 ** 40, 'at most 1024GiB: no sidecar reaches it'),
  sidecars: count(5000, 'the kit has not been tried with more of one control plane'),
  shards: count(100, 'balance has no more'),
  commitsPerSecond: z
    .number()
    .min(10, 'at least 10 commits/s: a sidecar is waited for 0.1 s')
    .max(10_000, 'at most 10000 commits/s: a request takes longer'),
  commitsAtOnce: count(256, 'each is a connection to the control plane'),
  changesPerMinute: z.int().min(0).max(6000, 'at most 6000: a change takes longer than 10 ms'),
  // kernel/sched/core.c, min_cfs_quota_period: a smaller quota is refused with EINVAL.
  capCores: z.number().min(0.01, 'at least 0.01 cores: the kernel takes no CPU quota below 1 ms in a period of 100 ms'),
}
