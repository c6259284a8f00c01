import { createLineView } from '../live/lines.js'
import { createRunState } from '../live/state.js'
import { readLibrary, readReportFile } from './report-assets.js'

/**
 * Watchers of a run: lines on stderr, a terminal view, browsers, Prometheus. A failure of one does not end the run.
 * @import { LiveAddress } from '../live/address.js'
 * @import { RunEvent } from '../run/events.js'
 * @typedef {{ publish: (event: RunEvent) => void, close: () => Promise<void> | void }} Watcher
 */

// Modules of the report's charts that the live page uses, too.
const CHARTS = ['style.js', 'rounds.js', 'over-time.js']

/**
 * Opens the views of a run.
 * @param {{ live?: LiveAddress, metrics?: LiveAddress }} addresses to serve at; undefined: not served
 * @param {{ stream: NodeJS.WriteStream, say: (line: string) => void }} context stream: of progress
 * @returns watch: gives an event to all views; follow: the same, undefined: there are only lines; say: writes a line
 *   beside the terminal view; close: closes all views
 * @throws {import('../lib/errors.js').BenchError} if an address cannot be served
 */
export async function openWatchers({ live, metrics }, { stream, say }) {
  const state = createRunState()
  /** @type {Watcher[]} */
  const opened = []
  /** The watchers that have not failed. @type {Set<Watcher>} */
  let watchers = new Set()
  // Failed watchers are closed, too: an open server would keep the process from ending.
  const close = async () => {
    watchers.clear()
    for (const watcher of opened.splice(0)) await watcher.close()
  }
  let sayBeside = say
  try {
    // Few runs use these views: their code is loaded only then.
    if (live) {
      const { startLiveServer } = await import('../live/server.js')
      const modules = CHARTS.map(name => [`/charts/${name}`, readReportFile(`charts/${name}`)])
      const assets = { echarts: readLibrary(), modules: Object.fromEntries(modules) }
      const server = await startLiveServer({ address: live, state, assets })
      opened.push(server)
      say(`live: ${server.url} (a browser on this machine takes CPU from what is measured)`)
    }
    if (metrics) {
      const { startMetricsServer } = await import('../live/metrics.js')
      const server = await startMetricsServer({ address: metrics })
      opened.push(server)
      say(`metrics: ${server.url}`)
    }
    if (stream.isTTY && process.env.TERM !== 'dumb') {
      const { createTerminalView } = await import('../live/terminal.js')
      const view = createTerminalView({ stream, state })
      opened.push({ publish: () => {}, close: view.close })
      sayBeside = view.say
    }
    const lines = createLineView({ state, say: line => sayBeside(line), hasRepeats: sayBeside === say })
    opened.push({ publish: lines.publish, close: () => {} })
  } catch (error) {
    await close()
    throw error
  }
  watchers = new Set(opened)
  // A watcher must not disturb the measurement: after a failure it gets no more events.
  const guard = (/** @type {() => void} */ act, /** @type {Iterable<Watcher>} */ failing) => {
    try {
      act()
    } catch (error) {
      for (const watcher of failing) watchers.delete(watcher)
      sayBeside(`a live view has failed, and the run goes on: ${/** @type {Error} */ (error).message}`)
    }
  }
  const publishToAll = (/** @type {RunEvent} */ event) => {
    guard(() => state.apply(event), watchers)
    for (const watcher of watchers) guard(() => watcher.publish(event), [watcher])
  }
  return { watch: publishToAll, follow: opened.length > 1 ? publishToAll : undefined, say: sayBeside, close }
}
