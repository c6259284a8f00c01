import { readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { parseProfile } from './profile.js'

/**
 * Runs a process under callgrind and asks it for counts: https://valgrind.org/docs/manual/cl-manual.html.
 * @import { ProcessSpec, Tool } from '../model/types.ts'
 */

// A busy machine takes seconds to write a profile.
const ANSWER_SECONDS = 60
// vgdb waits this long before it interrupts the system call in which an idle sidecar waits; its default is 100 ms.
const INTERRUPT_MS = 1

/**
 * Locates the file that callgrind writes for a process.
 * @param {string} folder of the process
 */
const locateProfile = folder => path.join(folder, 'callgrind.out')
/**
 * Renders the option for the channel between vgdb and callgrind.
 * @param {string} folder of the process
 */
const renderChannelOption = folder => `--vgdb-prefix=${path.join(folder, 'vgdb')}`

/**
 * Changes the command of a process so that it runs under callgrind. Counting is off at first: counting the start
 * takes long.
 * @param {ProcessSpec} spec
 * @param {{ valgrind: Tool, callers: number }} options callers: the number of callers by which calls of a function
 *   are counted apart
 * @returns {ProcessSpec}
 */
export function runUnderCallgrind(spec, { valgrind, callers }) {
  const out = `--callgrind-out-file=${locateProfile(spec.folder)}`
  const options = [
    '-q',
    '--tool=callgrind',
    '--instr-atstart=no',
    '--dump-line=no',
    out,
    `--separate-callers=${callers}`,
  ]
  return {
    ...spec,
    program: valgrind.path,
    argv: [...options, renderChannelOption(spec.folder), spec.program, ...spec.argv],
  }
}

/**
 * Creates the counter of a process.
 * @param {object} options
 * @param {string} options.folder of the process
 * @param {Tool} options.valgrind
 * @param {string[]} options.enter argv before the command of vgdb, to run it as the user of the process: callgrind
 *   answers no other user
 * @param {AbortSignal} options.signal
 * @returns start: begins to count; forget: resets the counts; take: reads the counts since the last time. They throw
 *   BenchError if callgrind does not answer, and the signal's reason
 */
export function createCounter({ folder, valgrind, enter, signal }) {
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
    const call = execa(program, argv, { cancelSignal: signal, timeout, stdin: 'ignore' })
    await call.catch(error => {
      signal.throwIfAborted()
      throw new BenchError(`callgrind does not answer "${words.join(' ')}": ${error.message}`, { cause: error })
    })
  }
  return {
    start: () => sendCommand(['instrumentation', 'on']),
    /** Resets the counts. */
    forget: () => sendCommand(['zero']),
    /**
     * Takes the counts since the last time.
     * @returns {Promise<ReturnType<typeof parseProfile>>}
     * @throws {BenchError} if callgrind wrote none
     */
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
