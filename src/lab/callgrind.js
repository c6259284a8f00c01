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

/** @param {string} folder of the process */
const locateProfile = folder => path.join(folder, 'callgrind.out')
/** @param {string} folder of the process */
const renderChannelOption = folder => `--vgdb-prefix=${path.join(folder, 'vgdb')}`

/**
 * Changes the command of a process to run it under callgrind, which counts nothing until it is told to: counting the start takes long.
 * @param {ProcessSpec} spec
 * @param {{ valgrind: Tool, callers: number }} options callers: calls of a function are counted apart by so many callers
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
 * Makes the counter of a process. Its methods throw BenchError if callgrind does not answer, and the signal's reason.
 * @param {object} options
 * @param {string} options.folder of the process
 * @param {Tool} options.valgrind
 * @param {string[]} options.enter words before the command of vgdb, by which the user of the process runs it: callgrind answers no other
 * @param {AbortSignal} options.signal
 */
export function createCounter({ folder, valgrind, enter, signal }) {
  let parts = 0
  const ask = async (/** @type {string[]} */ words) => {
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
    start: () => ask(['instrumentation', 'on']),
    /** Drops the counts so far. */
    forget: () => ask(['zero']),
    /**
     * Takes the counts since the last time.
     * @returns {Promise<ReturnType<typeof parseProfile>>}
     * @throws {BenchError} if callgrind wrote none
     */
    async take() {
      await ask(['dump'])
      const file = `${locateProfile(folder)}.${++parts}`
      const text = await readFile(file, 'utf8').catch(error => {
        throw new BenchError(`callgrind wrote no profile: ${error.message}`, { cause: error })
      })
      await rm(file)
      return parseProfile(text)
    },
  }
}
