// Runs in the kit's own pods, and on this machine for the parity corpus. Reads calls from stdin, one JSON object a line, and
// answers on stdout, also a line each, in the order in which the calls end; `cancel` aborts the call of that id.
import { createInterface } from 'node:readline'
import { BenchError } from '../lib/errors.js'
import { createProber } from '../node/prober.js'
import { createParityProber } from '../parity/beside/prober.js'
import { createAsker } from './asker.js'
import { decode, encode } from './messages.js'
import { createReader } from './reader.js'

/** @type {Record<string, (args: any, signal: AbortSignal) => unknown>} */
const procedures = {
  ...createProber(),
  ...createParityProber(),
  ...createReader(),
  ...createAsker(),
  now: () => Date.now(),
}
/** @type {Map<number, AbortController>} */
const running = new Map()

const writeMessage = (/** @type {object} */ message) => process.stdout.write(`${encode(message)}\n`)

const input = createInterface({ input: process.stdin })
input.on('line', async line => {
  const message = decode(line)
  // A line that is no message asks for nothing: a shell or a login may print before it.
  if (message === null) return
  const { id, procedure, args, cancel } = message
  if (cancel) {
    running.get(id)?.abort()
    return
  }
  const stopping = new AbortController()
  running.set(id, stopping)
  try {
    writeMessage({ id, result: await procedures[procedure](args, stopping.signal) })
  } catch (error) {
    writeMessage({ id, error: /** @type {Error} */ (error).message, isFault: !(error instanceof BenchError) })
  } finally {
    running.delete(id)
  }
})
// Without the orchestrator at the other end of stdin, nothing can be called any more.
input.on('close', () => process.exit())
