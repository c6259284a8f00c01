/** Exit statuses of the program by name, each with its meaning. */
const STATUSES = /** @type {const} */ ({
  done: [0, 'done; every threshold held'],
  failed: [1, 'failed; verify: a number does not agree; doctor: something is missing'],
  usage: [2, 'the command line or an experiment file is wrong; nothing was run'],
  noResult: [3, 'it ran, but nothing could be compared or found, or a required verdict was not reached'],
  planeMissing: [4, 'the program of a data plane named with --planes is not here'],
  thresholdCrossed: [5, 'a --threshold was crossed'],
  hangup: [129, 'its terminal was closed (SIGHUP); what was measured is kept'],
  interrupted: [130, 'interrupted (SIGINT, Ctrl-C); what was measured is kept'],
  quit: [131, 'told to quit (SIGQUIT, Ctrl-\\); what was measured is kept'],
  userSignal: [140, 'ended by SIGUSR2; what was measured is kept'],
  terminated: [143, 'terminated (SIGTERM); what was measured is kept'],
})
const values = Object.entries(STATUSES).map(([name, [status]]) => [name, status])

/** The exit statuses by name. @type {{ [Name in keyof typeof STATUSES]: typeof STATUSES[Name][0] }} */
export const EXIT = /** @type {any} */ (Object.fromEntries(values))

/** The meaning of each exit status. @type {Record<typeof EXIT[keyof typeof EXIT], string>} */
export const EXIT_MEANINGS = /** @type {any} */ (Object.fromEntries(Object.values(STATUSES)))

/** An error that a person can act on; `cli.js` prints its message and exits with its status. */
export class BenchError extends Error {
  /**
   * @param {string} message what was attempted, the value it got, what to do next
   * @param {{ exitStatus?: number, cause?: unknown }} [options]
   */
  constructor(message, { exitStatus = EXIT.failed, cause } = {}) {
    super(message, { cause })
    this.name = new.target.name
    this.exitStatus = exitStatus
  }
}

/** The user's input is wrong: options, or a file. Its exit status is always EXIT.usage. */
export class UsageError extends BenchError {
  exitStatus = EXIT.usage
}

/** The program of a plane named with --planes is not here. Its exit status is always EXIT.planeMissing. */
export class MissingPlaneError extends BenchError {
  exitStatus = EXIT.planeMissing
}

/** A condition did not hold before its deadline. */
export class TimeoutError extends BenchError {}

/** A program is installed, but does not run. */
export class BrokenToolError extends BenchError {}

/** Processes that exited early, each with cause and OOM flag. @template E */
export class EndedError extends BenchError {
  /**
   * @param {string} message
   * @param {{ cause?: unknown, ended: E[] }} options
   */
  constructor(message, { cause, ended }) {
    super(message, { cause })
    this.ended = ended
  }
}

/** A procedure of the agent failed because of the kit or the machine: this says nothing about a data plane. */
export class AgentError extends BenchError {}

/** The cluster or host where services run no longer answers: the run ends, and what it started there must be removed later. */
export class SiteLostError extends BenchError {}

/**
 * Says whether an error is of a class, or was caused by one: others wrap it, to say what was attempted.
 * @param {unknown} error
 * @param {new (...args: any[]) => Error} type
 * @returns {boolean}
 */
export function isCausedBy(error, type) {
  if (error instanceof type) return true
  return error instanceof Error && isCausedBy(error.cause, type)
}

/**
 * Error codes of what this machine itself could not do, such as open a file or send a request: no sidecar or control plane is the
 * cause.
 */
export const OWN_CODES = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EADDRNOTAVAIL', 'ENOBUFS']
