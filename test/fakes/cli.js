import { PassThrough } from 'node:stream'
import { chooseExitStatus, createProgram, renderErrorMessage } from '../../src/verbs/program.js'
import { openWatchers } from '../../src/verbs/watchers.js'

/** The command line in this process. @param {string[]} argv */
export const cli = (...argv) => runCli(argv, new AbortController().signal)

/** The command line in this process, which a signal may interrupt. @param {string[]} argv @param {AbortSignal} signal */
export async function runCli(argv, signal) {
  /** @type {string[]} */
  const printed = []
  /** @type {string[]} */
  const said = []
  let exitCode = 0
  const stream = /** @type {any} */ (new PassThrough())
  /** @type {import('../../src/verbs/program.js').Context} */
  const context = {
    print: text => void printed.push(text),
    say: line => void said.push(line),
    end: status => {
      exitCode = status
    },
    signal,
    watch: options => openWatchers(options, { stream, say: context.say }),
  }
  try {
    const program = await createProgram(context, argv)
    await program.parseAsync(argv, { from: 'user' })
  } catch (error) {
    exitCode = chooseExitStatus(error)
    said.push(renderErrorMessage(error) ?? '')
  }
  return { exitCode, stdout: printed.join('\n'), stderr: said.join('\n') }
}
