// This program runs in the kit's own pods, and on this machine for the parity corpus. It reads calls from stdin, one JSON
// object a line, and answers on stdout, also a line each, in the order in which the calls end; `cancel` aborts the call of that id.
import { createInterface } from 'node:readline'
import { BenchError } from '../lib/errors.js'
import { createProber } from '../node/prober.js'
import { createParityProber } from '../parity/beside/prober.js'
import { decodeMessage, encodeMessage } from './messages.js'
import { createReader } from './reader.js'
import { createRolloutProber } from './rollout-prober.js'

/** @type {Record<string, (args: any, signal: AbortSignal) => unknown>} */
const procedures = {
  ...createProber(),
  ...createParityProber(),
  ...createReader(),
  ...createRolloutProber(),
  now: () => Date.now(),
}
/** The calls that have not ended, by id. @type {Map<number, AbortController>} */
const calls = new Map()

const writeMessage = (/** @type {object} */ message) => process.stdout.write(`${encodeMessage(message)}\n`)

const input = createInterface({ input: process.stdin })
input.on('line', async line => {
  const message = decodeMessage(line)
  // A line that is no message is ignored: a shell or a login may print one.
  if (message === null) return
  const { id, procedure, args, cancel } = message
  if (cancel) {
    calls.get(id)?.abort()
    return
  }
  const controller = new AbortController()
  calls.set(id, controller)
  try {
    writeMessage({ id, result: await procedures[procedure](args, controller.signal) })
  } catch (error) {
    writeMessage({ id, error: /** @type {Error} */ (error).message, isFault: !(error instanceof BenchError) })
  } finally {
    calls.delete(id)
  }
})
// Without the orchestrator at the other end of stdin, nothing can be called any more.
input.on('close', () => process.exit())
