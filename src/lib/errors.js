import { EXIT } from './exit-status.js'

/** An error that a person can act on; `cli.js` prints its message and exits with its status. */
export class BenchError extends Error {
  /** @param {string} message what was tried, what came, what to do @param {{ exitStatus?: number, cause?: unknown }} [options] */
  constructor(message, { exitStatus = EXIT.failed, cause } = {}) {
    super(message, { cause })
    this.name = new.target.name
    this.exitStatus = exitStatus
  }
}

/** The command line or an experiment file is wrong. */
export class UsageError extends BenchError {
  exitStatus = EXIT.usage
}

/** The program of a plane named with --planes is not here. */
export class MissingPlaneError extends BenchError {
  exitStatus = EXIT.planeMissing
}

/** Processes ended that were to run: which, how, and whether for memory. @template E */
export class EndedError extends BenchError {
  /** @param {string} message @param {{ cause?: unknown, ended: E[] }} options */
  constructor(message, { cause, ended }) {
    super(message, { cause })
    this.ended = ended
  }
}

/** A procedure of the agent failed by the kit's own fault, or the machine's: it says nothing of a plane. */
export class AgentError extends BenchError {}

/** The place where services run no longer answers: the run ends, and what is there must be removed later. */
export class SiteLostError extends BenchError {}
