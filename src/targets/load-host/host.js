import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../../lib/errors.js'
import { assertTogether, measureClock } from './clock.js'
import { openConnection } from './connection.js'
import { readMachineThere } from './machine.js'
import { startProcessThere } from './process.js'
import { findToolThere } from './tool.js'

/** Another machine, as a place for the generator. */
/** @import { ProcessSpec, Tool, ToolSpec } from '../../model/types.ts' */

/** @typedef {Awaited<ReturnType<typeof openLoadHost>>} LoadHost */

/**
 * @param {{ host: string, folder: string, environment: Record<string, string>, signal: AbortSignal,
 *   findHere: (spec: ToolSpec) => Promise<Tool | { missing: string }>, say: (line: string) => void,
 *   beatMs?: number }} options host: as for ssh; folder: of this user alone; environment: of the processes that it starts
 *   here; findHere: looks for a program on this machine; beatMs: from ping to ping
 * @throws {BenchError} where no load can be made there: why, and what to do
 */
export async function openLoadHost({ host, folder, environment, signal, findHere, say, beatMs }) {
  const connection = await openConnection({ host, folder, environment, signal, beatMs })
  try {
    const { machine, seenAs } = await readMachineThere(connection)
    const clock = await measureClock(connection)
    assertTogether(clock, host)
    /** Where folders of this machine are there. @type {Map<string, string>} */
    const located = new Map()
    /** @type {Map<string, Promise<void>>} */
    const sent = new Map()
    /** @type {Map<string, ReturnType<typeof findToolThere>>} */
    const found = new Map()

    /** @param {string} at a folder there @param {string[]} names of files in it, or all */
    const send = async (at, names) => {
      const [source] = [...located].find(([, place]) => place === at) ?? []
      if (source === undefined) throw new Error(`nothing is at ${at}`)
      const tar = execa('tar', ['-C', source, '-chf', '-', '--', ...names], {
        buffer: { stdout: false },
        reject: false,
      })
      const { exitCode, said } = await connection.run(
        ['/bin/sh', '-c', 'mkdir -p "$1" && tar -C "$1" -xf -', 'sh', at],
        { input: tar.stdout },
      )
      if (exitCode === 0 && (await tar).exitCode === 0) return
      throw new BenchError(`${source} could not be sent to ${host}:${at}: ${said || (await tar).stderr}`)
    }
    const sendOnce = (/** @type {string} */ at, /** @type {string[]} */ names) => {
      const key = [at, ...names].join(' ')
      const sending = sent.get(key) ?? send(at, names)
      sent.set(key, sending)
      return sending
    }

    return {
      host,
      machine,
      seenAs,
      clock,
      measureClock: () => measureClock(connection),
      close: connection.close,

      /** @param {ToolSpec} spec */
      findTool(spec) {
        const finding =
          found.get(spec.name) ?? findToolThere(spec, { connection, architecture: machine.architecture, findHere, say })
        found.set(spec.name, finding)
        return finding
      },

      /** @param {string} source a folder of this machine */
      locate(source) {
        const at = located.get(source) ?? path.posix.join(connection.folder, `${located.size}`, path.basename(source))
        located.set(source, at)
        return at
      },

      /** @param {ProcessSpec} spec @param {string} folder of its log, here */
      async start(spec, folder) {
        connection.assertOpen()
        for (const at of spec.scripts) await sendOnce(at, ['.'])
        const [credential] = spec.credentials
        if (credential)
          await sendOnce(
            path.posix.dirname(credential),
            spec.credentials.map(file => path.posix.basename(file)),
          )
        const now = await measureClock(connection)
        assertTogether(now, host)
        return startProcessThere({ spec, folder, connection, clock: now, hostCpus: machine.hostCpus })
      },
    }
  } catch (error) {
    await connection.close()
    throw error
  }
}
