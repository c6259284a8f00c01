import { z } from 'zod'

/** Bounds of numbers with their reasons, for the command line and for files; axes have theirs in axes/. Pure. */

const TIMEOUT_SECONDS = 60

export const ROUNDS_MOST = 10_000

export const rounds = z.int().positive().max(ROUNDS_MOST, `at most ${ROUNDS_MOST} rounds: they take a day or longer`)

/** The rate in a burst, as a multiple of the rate around it. */
export const burstFactor = z
  .number()
  .gt(1, 'a burst has more than the rate: above 1x')
  .max(1000, 'at most 1000x: one k6 makes fewer')

/** The width of a ratio's interval, from end to end, as a share of its low end. */
export const precisionWidth = z
  .number()
  .min(0.001, 'at least 0.1%: what remains is no noise of rounds')
  .max(1, 'at most 100%: a wider interval says nothing')

export const seed = z
  .int()
  .min(0)
  .max(2 ** 32 - 1, `at most ${2 ** 32 - 1}: a seed has 32 bits`)

export const lengthSeconds = z.number().positive().max(86_400, 'at most 86400 s, a day')

export const p99Ms = z
  .number()
  .positive()
  .max(TIMEOUT_SECONDS * 1000, `at most ${TIMEOUT_SECONDS} s: longer requests have failed`)

/**
 * Creates the schema of a number of things, at least one.
 * @param {number} most
 * @param {string} why the reason for this maximum, which the message gives
 */
export const createCountSchema = (most, why) => z.int().positive().max(most, `at most ${most}: ${why}`)

export const realSidecars = z
  .int()
  .min(
    30,
    'at least 30: of fewer, a control plane takes so little that simulated sidecars cannot be told from real ones',
  )

export const memoryBytes = z
  .int()
  .min(2 ** 20, 'at least 1MiB: with less no program starts')
  .max(2 ** 40, 'at most 1024GiB: no sidecar reaches it')

// kernel/sched/core.c, min_cfs_quota_period: a smaller quota is refused with EINVAL.
export const cpuLimitCores = z
  .number()
  .min(0.01, 'at least 0.01 cores: the kernel takes no CPU quota below 1 ms in a period of 100 ms')

// MilliCPUToShares in pkg/kubelet/cm/helpers_linux.go of Kubernetes: 2 shares are the least.
export const cpuRequestCores = z
  .number()
  .min(0.002, 'at least 0.002 cores: a container has no fewer than 2 CPU shares')
  .max(256, 'at most 256 cores: a container has no more than 262144 CPU shares')

/** A gap smaller than this share is no difference, however narrow the interval. */
export const GAP_LEAST = 0.03

/** The idle fraction below which a machine was busy with something else before a run. */
export const IDLE_LEAST = 0.8
