import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { parseProfile } from './profile.js'

/**
 * Counts the instructions of a process with callgrind: https://valgrind.org/docs/manual/cl-manual.html.
 * @import { ProcessSpec, Tool } from '../model/types.ts'
 */

// A busy machine takes seconds to write a profile.
const ANSWER_SECONDS = 60
// vgdb waits this long before it interrupts the system call in which an idle sidecar waits; its default is 100 ms.
const INTERRUPT_MS = 1

/**
 * Locates the file of callgrind's profiles; to the name of each dump it appends `.1`, `.2` and so on.
 * @param {string} folder of the process
 */
const locateProfile = folder => path.join(folder, 'callgrind.out')

/**
 * Renders the option for the channel between vgdb and callgrind.
 * @param {string} folder of the process
 */
const renderChannelOption = folder => `--vgdb-prefix=${path.join(folder, 'vgdb')}`

/**
 * Changes the command of a process so that it runs under callgrind. Counting is off until `start` of its counter: counting
 * the start of the process takes long.
 * @param {ProcessSpec} spec is copied
 * @param {{ valgrind: Tool, callers: number }} options callers: the number of callers by which calls of a function
 *   are counted apart
 * @returns {ProcessSpec}
 */
export function wrapInCallgrind(spec, { valgrind, callers }) {
  const options = [
    '-q',
    '--tool=callgrind',
    '--instr-atstart=no',
    '--dump-line=no',
    `--callgrind-out-file=${locateProfile(spec.folder)}`,
    `--separate-callers=${callers}`,
    renderChannelOption(spec.folder),
  ]
  return { ...spec, program: valgrind.path, argv: [...options, spec.program, ...spec.argv] }
}

/**
 * Creates the counter of a process that `wrapInCallgrind` has changed, one for each process: it numbers the profiles as callgrind does.
 * @param {object} options
 * @param {string} options.folder of the process
 * @param {Tool} options.valgrind
 * @param {string[]} options.enter argv before the command of vgdb, to run it as the user of the process: callgrind
 *   answers no other user
 * @param {AbortSignal} options.signal
 * @returns start: begins to count; reset: forgets the counts; take: reads the counts since the last reset or `take`, and removes their
 *   file. They throw a BenchError if callgrind does not answer within ANSWER_SECONDS or wrote no profile, and the signal's reason when
 *   it aborts
 */
export function createInstructionCounter({ folder, valgrind, enter, signal }) {
  let parts = 0
  const sendCommand = async (/** @type {string[]} */ words) => {
    const vgdb = path.join(path.dirname(valgrind.path), 'vgdb')
    const timeout = ANSWER_SECONDS * 1000
    const [program, ...argv] = [
      ...enter,
      vgdb,
      renderChannelOption(folder),
      `--max-invoke-ms=${INTERRUPT_MS}`,
      ...words,
    ]
    await execa(program, argv, { cancelSignal: signal, timeout, stdin: 'ignore' }).catch(error => {
      signal.throwIfAborted()
      throw new BenchError(`callgrind does not answer "${words.join(' ')}": ${error.message}`, { cause: error })
    })
  }
  return {
    start: () => sendCommand(['instrumentation', 'on']),
    reset: () => sendCommand(['zero']),
    async take() {
      await sendCommand(['dump'])
      const file = `${locateProfile(folder)}.${++parts}`
      const text = await readFile(file, 'utf8').catch(error => {
        throw new BenchError(`callgrind wrote no profile: ${error.message}`, { cause: error })
      })
      await rm(file)
      return parseProfile(text)
    },
  }
}
