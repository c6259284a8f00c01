/** Exit statuses of the program, by name. */
export const EXIT = /** @type {const} */ ({
  done: 0,
  failed: 1,
  usage: 2,
  nothingShown: 3,
  planeMissing: 4,
  thresholdCrossed: 5,
  hangup: 129,
  interrupted: 130,
  quit: 131,
  userSignal: 140,
  terminated: 143,
})

/** The meaning of each exit status. @type {Record<typeof EXIT[keyof typeof EXIT], string>} */
export const EXIT_MEANINGS = {
  [EXIT.done]: 'done; every threshold held',
  [EXIT.failed]: 'failed; verify: a number does not agree; doctor: something is missing',
  [EXIT.usage]: 'the command line or an experiment file is wrong; nothing was run',
  [EXIT.nothingShown]: 'it ran, but nothing could be compared or found, or a required verdict was not reached',
  [EXIT.planeMissing]: 'the program of a data plane named with --planes is not here',
  [EXIT.thresholdCrossed]: 'a --threshold was crossed',
  [EXIT.hangup]: 'its terminal was closed (SIGHUP); what was measured is kept',
  [EXIT.interrupted]: 'interrupted (SIGINT, Ctrl-C); what was measured is kept',
  [EXIT.quit]: 'told to quit (SIGQUIT, Ctrl-\\); what was measured is kept',
  [EXIT.userSignal]: 'ended by SIGUSR2; what was measured is kept',
  [EXIT.terminated]: 'terminated (SIGTERM); what was measured is kept',
}
