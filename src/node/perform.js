import { readFile, readlink, realpath, rename, writeFile } from 'node:fs/promises'
import http from 'node:http'
import path from 'node:path'
import { BenchError } from '../lib/errors.js'
import { sendRequest } from './send.js'

/** Brings configurations to the places from which sidecars take them: by moved files, signals, and requests to a control plane. */
/** @import { ReloadAction } from '../model/types.ts' */

/**
 * Performs actions one after the other.
 * @param {ReloadAction[]} actions
 * @param {http.Agent} [agent] keeps connections; absent: each request has its own
 * @throws {BenchError} if a request is answered 300 or above, or the process to signal is not there; as `sendRequest` if it is not
 *   answered; the system's error if a file cannot be written, or a signal not sent. The actions after that are not performed
 */
export async function performActions(actions, agent) {
  for (const action of actions) {
    if (action.kind === 'move') await replaceFile(action)
    else if (action.kind === 'signal') await signalOwner(action)
    else {
      const { endpoint, ...request } = action
      // A configuration is text, and a body is bytes.
      const bytes = Buffer.from(request.body).toString('latin1')
      const encodedRequest = { ...request, body: bytes, host: endpoint.address }
      const { status, body } = await sendRequest(endpoint, encodedRequest, { agent })
      if (status >= 300)
        throw new BenchError(`${request.method} ${request.path} was answered ${status} ${body.slice(0, 200)}`)
    }
  }
}

/**
 * Replaces a file in a folder that the sidecar watches. The new file is written beside the folder, and then moved in, so that the
 * sidecar never reads a part of it.
 * @param {Extract<ReloadAction, { kind: 'move' }>} action
 * @throws the system's error if it cannot be written or moved
 */
async function replaceFile({ file, content }) {
  const nextFile = `${path.dirname(file)}.next`
  await writeFile(nextFile, content)
  await rename(nextFile, file)
}

/**
 * Sends a signal to the sidecar whose pid is in a file.
 * @param {Extract<ReloadAction, { kind: 'signal' }>} action
 * @throws {BenchError} if the file cannot be read, or its process does not run in the folder of the file; the system's error if the
 *   signal cannot be sent
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
