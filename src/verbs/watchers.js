import { createLineView } from '../live/lines.js'
import { createRunState } from '../live/state.js'
import { readEcharts, readReportFile } from './report-assets.js'

/**
 * The views of a run: lines on stderr, a terminal view, browsers, Prometheus. A failure of one does not end the run.
 * @import { LiveAddress } from '../live/address.js'
 * @import { RunState } from '../live/state.js'
 * @import { RunEvent } from '../run/events.js'
 * @typedef {{ publish: (event: RunEvent) => void, close: () => Promise<void> | void }} View
 */

// Modules of the report's charts that the live page imports, too.
const CHARTS = ['style.js', 'rounds.js', 'over-time.js']

/**
 * Opens the views of a run, which the caller closes. If one cannot be opened, the others are closed.
 * @param {{ live?: LiveAddress, metrics?: LiveAddress }} addresses to serve at; undefined: not served
 * @param {{ stream: NodeJS.WriteStream, say: (line: string) => void }} context stream: of progress
 * @returns watch: gives an event to all views; follow: the same, for events that lines do not show; undefined: there are only lines;
 *   say: writes a line beside the terminal view, or by the given `say` without one; close: closes all views, also those that failed
 * @throws {import('../lib/errors.js').BenchError} if an address cannot be served
 */
export async function openWatchers({ live, metrics }, { stream, say }) {
  const state = createRunState()
  /** @type {View[]} */
  const opened = []
  /** The open views that have not failed. @type {Set<View>} */
  const working = new Set()
  // Failed views are closed, too: an open server would keep the process from ending.
  const close = async () => {
    working.clear()
    for (const view of opened.splice(0)) await view.close()
  }
  let sayBeside = say
  try {
    if (live) opened.push(await openLivePage(live, { state, say }))
    if (metrics) opened.push(await openMetrics(metrics, say))
    if (stream.isTTY && process.env.TERM !== 'dumb') {
      // Only terminals need this code.
      const { createTerminalView } = await import('../live/terminal.js')
      const view = createTerminalView({ stream, state })
      opened.push({ publish: () => {}, close: view.close })
      sayBeside = view.say
    }
  } catch (error) {
    await close()
    throw error
  }
  const lines = createLineView({ state, say: line => sayBeside(line), hasRepeats: sayBeside === say })
  opened.push({ publish: lines.publish, close: () => {} })
  for (const view of opened) working.add(view)
  const publishToAll = createPublisher(working, { state, say: sayBeside })
  return { watch: publishToAll, follow: opened.length > 1 ? publishToAll : undefined, say: sayBeside, close }
}

/**
 * Serves the page of a run, and prints its URL. The code is loaded here, since few runs have a page.
 * @param {LiveAddress} address
 * @param {{ state: RunState, say: (line: string) => void }} context
 * @returns {Promise<View>}
 * @throws {import('../lib/errors.js').BenchError} if the address cannot be served
 */
async function openLivePage(address, { state, say }) {
  const { startLiveServer } = await import('../live/server.js')
  const modules = CHARTS.map(name => [`/charts/${name}`, readReportFile(`charts/${name}`)])
  const assets = { echarts: readEcharts(), modules: Object.fromEntries(modules) }
  const server = await startLiveServer({ address, state, assets })
  say(`live: ${server.url} (a browser on this machine takes CPU from what is measured)`)
  return server
}

/**
 * Serves the metrics of a run, and prints their URL. The code is loaded here, since few runs serve them.
 * @param {LiveAddress} address
 * @param {(line: string) => void} say
 * @returns {Promise<View>}
 * @throws {import('../lib/errors.js').BenchError} if the address cannot be served
 */
async function openMetrics(address, say) {
  const { startMetricsServer } = await import('../live/metrics.js')
  const server = await startMetricsServer({ address })
  say(`metrics: ${server.url}`)
  return server
}

/**
 * Creates a function that applies an event to the state, then gives it to the views. It never throws: a view must not
 * disturb the measurement, and gets no more events after it failed.
 * @param {Set<View>} working loses the views that fail
 * @param {{ state: RunState, say: (line: string) => void }} context say: prints the error of a view
 * @returns {(event: RunEvent) => void}
 */
function createPublisher(working, { state, say }) {
  const guard = (/** @type {() => void} */ act, /** @type {Iterable<View>} */ affected) => {
    try {
      act()
    } catch (error) {
      for (const view of affected) working.delete(view)
      say(`a live view has failed, and the run goes on: ${/** @type {Error} */ (error).message}`)
    }
  }
  return event => {
    // Every view reads the state: none can go on without it.
    guard(() => state.apply(event), working)
    for (const view of working) guard(() => view.publish(event), [view])
  }
}
