import { readFile, readlink, realpath, rename, writeFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { sendRequest } from './send.js'

/** Brings configurations to the places from which sidecars take them: by moved files, signals, and requests to a control plane. */
/** @import { ReloadAction } from '../model/types.ts' */

/**
 * Performs actions one after the other. Each request has a connection of its own, unless an agent keeps connections.
 * @param {ReloadAction[]} actions
 * @param {http.Agent} [agent] keeps connections; absent: each request has its own
 * @throws {BenchError} when a request is answered 300 or above, or the process to signal is not there
 */
export async function performActions(actions, agent) {
  for (const action of actions) {
    if (action.kind === 'move') {
      // The sidecar watches the folder, so the new file is written beside it and then moved in.
      const nextFile = `${path.dirname(action.file)}.next`
      await writeFile(nextFile, action.content)
      await rename(nextFile, action.file)
      continue
    }
    if (action.kind === 'signal') {
      await signalOwner(action)
      continue
    }
    const { endpoint, ...ask } = action
    const { status, body } = await sendRequest(endpoint, { ...ask, host: endpoint.address }, { agent })
    if (status >= 300) throw new BenchError(`${ask.method} ${ask.path} was answered ${status} ${body.slice(0, 200)}`)
  }
}

/**
 * Sends a signal to the sidecar whose pid is in a file.
 * @param {Extract<ReloadAction, { kind: 'signal' }>} action
 * @throws {BenchError} if the file cannot be read, or its process does not run in the folder of the file
 */
async function signalOwner({ pidFile, signal }) {
  const text = await readFile(pidFile, 'utf8').catch(error => {
    throw new BenchError(`cannot send ${signal}: ${error.message}`, { cause: error })
  })
  const pid = Number(text)
  // A pid may have been reused. A sidecar runs in the folder of its files, so another folder means another process.
  const folder = Number.isInteger(pid) && pid > 1 ? await readlink(`/proc/${pid}/cwd`).catch(() => null) : null
  if (folder !== (await realpath(path.dirname(pidFile))))
    throw new BenchError(
      `cannot send ${signal}: ${pidFile} says "${text.trim()}", and no such process runs in its folder`,
    )
  process.kill(pid, signal)
}
