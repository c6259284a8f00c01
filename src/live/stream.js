/**
 * Sends the course of a run to browsers, as server-sent events.
 * @import { ServerResponse } from 'node:http'
 * @import { RunState } from './state.js'
 * @import { RunEvent } from '../run/events.js'
 * @import { LiveResult } from './results.js'
 */

const RETRY_MS = 2000
const HEARTBEAT_MS = 15_000
// A browser that leaves more than this unread beyond its first message is cut off, so that the kit's memory stays bounded; it
// reconnects, and gets everything anew.
const UNREAD_BYTES_MOST = 1024 * 1024
// The connection ends with the last event.
const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', connection: 'close' }

/**
 * Creates the stream of server-sent events. A new connection or plan gets `reset` { snapshot, series, results, rows }. Every
 * `intervalMs` follow, together, if anything changed: `trial` { result, rows } for each trial that ended, `new-trial` when the
 * series begin again, and `state` { snapshot, points } with the new points. The last event is `end` { snapshot }; then the
 * connection ends. A comment each HEARTBEAT_MS keeps it open.
 * @param {{ state: Pick<RunState, 'snapshot' | 'series' | 'results' | 'rows'>, intervalMs?: number }} options intervalMs: between
 *   events; 500 by default
 * @returns addClient: adds a browser; publish: collects an event; close: ends all connections
 */
export function createStream({ state, intervalMs = 500 }) {
  /** The bytes that each browser may leave unread: its first message, and UNREAD_BYTES_MOST. @type {Map<ServerResponse, number>} */
  const clients = new Map()
  /** @type {NodeJS.Timeout | undefined} */
  let timer
  let ticks = 0
  const changes = createChanges(state)
  const removeClient = (/** @type {ServerResponse} */ response) => {
    clients.delete(response)
    if (clients.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
  const tick = () => {
    const isHeartbeat = ++ticks % Math.ceil(HEARTBEAT_MS / intervalMs) === 0
    writeToClients(clients, `${changes.flush()}${isHeartbeat ? ': still there\n\n' : ''}`)
  }
  const endResponses = () => {
    for (const response of clients.keys()) response.end()
  }

  return {
    /**
     * Sends a browser all so far, and from then on each change until the run ends. After its end the response is ended, too.
     * @param {ServerResponse} response whose headers were not sent
     */
    addClient(response) {
      // The others get their changes first, because the new one gets everything.
      writeToClients(clients, changes.flush())
      changes.clear()
      const { ending } = state.snapshot()
      const firstMessage = `retry: ${RETRY_MS}\n\n${renderReset(state)}${ending === null ? '' : renderEnd(state)}`
      response.on('close', () => removeClient(response))
      // Without a listener, the error of a browser that goes away would end the run.
      response.on('error', () => removeClient(response))
      response.writeHead(200, HEADERS).write(firstMessage)
      if (ending !== null) {
        response.end()
        return
      }
      clients.set(response, UNREAD_BYTES_MOST + Buffer.byteLength(firstMessage))
      timer ??= setInterval(tick, intervalMs).unref()
    },
    /**
     * Collects an event that the state has applied, for the next tick; without browsers it is dropped. The end of the run is sent at
     * once, and ends all connections.
     * @param {RunEvent} event
     */
    publish(event) {
      if (clients.size === 0) return
      changes.add(event)
      if (event.kind !== 'ended') return
      writeToClients(clients, `${changes.flush()}${renderEnd(state)}`)
      endResponses()
    },
    /** Ends all connections; changes since the last tick are not sent. */
    close() {
      clearInterval(timer)
      endResponses()
    },
  }
}

/**
 * Creates the collection of the changes since events were last sent.
 * @param {Parameters<typeof createStream>[0]['state']} state
 * @returns add: adds an event; clear: removes the changes; flush: renders and removes them
 */
function createChanges(state) {
  let isChanged = false
  let isReset = false
  let isNewTrial = false
  /** @type {LiveResult[]} */
  let newResults = []
  let sentUntilSeconds = Number.NEGATIVE_INFINITY

  const clear = () => {
    ;[isChanged, isReset, isNewTrial, newResults] = [false, false, false, []]
    const points = state.series().flatMap(({ cores, anonBytes }) => [cores.at(-1), anonBytes.at(-1)])
    sentUntilSeconds = Math.max(...points.map(point => point?.[0] ?? Number.NEGATIVE_INFINITY))
  }
  const render = () => {
    const rows = newResults.length > 0 ? state.rows() : []
    // Only points since the last call are sent. A stretch that grew is sent whole, since the page joins stretches that meet.
    const points = state.series().map(({ service, cpuLimitCores, cores, anonBytes, throttled }) => ({
      service,
      cpuLimitCores,
      cores: listLastItems(cores, ([at]) => at > sentUntilSeconds),
      anonBytes: listLastItems(anonBytes, ([at]) => at > sentUntilSeconds),
      throttled: listLastItems(throttled, ([, to]) => to > sentUntilSeconds),
    }))
    return [
      ...newResults.map(result => renderEvent('trial', { result, rows })),
      isNewTrial ? renderEvent('new-trial', {}) : '',
      renderEvent('state', { snapshot: state.snapshot(), points }),
    ].join('')
  }
  return {
    /** Removes the changes. All points so far count as sent. */
    clear,
    /**
     * Renders the changes since the last call, and removes them.
     * @returns {string} events; empty: there are none
     */
    flush() {
      if (!isChanged) return ''
      const text = isReset ? renderReset(state) : render()
      clear()
      return text
    },
    /**
     * Adds an event that the state has applied.
     * @param {RunEvent} event
     */
    add({ kind }) {
      isChanged = true
      if (kind === 'planned') isReset = true
      if (kind === 'trial-ended') newResults.push(/** @type {LiveResult} */ (state.results().at(-1)))
      if (kind !== 'trial-started') return
      isNewTrial = true
      sentUntilSeconds = Number.NEGATIVE_INFINITY
    },
  }
}

/**
 * Writes to browsers. One that has left more unread than it may is cut off.
 * @param {Map<ServerResponse, number>} clients with the bytes that each may leave unread
 * @param {string} text empty: nothing is written
 */
function writeToClients(clients, text) {
  if (text === '') return
  for (const [response, bytesMost] of clients) {
    if (response.writableLength <= bytesMost) response.write(text)
    else response.destroy()
  }
}

/**
 * Renders the event that replaces all that a page has.
 * @param {Parameters<typeof createStream>[0]['state']} state
 * @returns {string}
 */
function renderReset(state) {
  const [series, results] = [state.series(), state.results()]
  return renderEvent('reset', { snapshot: state.snapshot(), series, results, rows: state.rows() })
}

/**
 * Renders the event of the end, with the last state.
 * @param {Pick<RunState, 'snapshot'>} state
 * @returns {string}
 */
const renderEnd = state => renderEvent('end', { snapshot: state.snapshot() })

/**
 * Renders a server-sent event.
 * @param {string} name of the event
 * @param {unknown} value is sent as JSON
 * @returns {string}
 */
const renderEvent = (name, value) => `event: ${name}\ndata: ${JSON.stringify(value)}\n\n`

/**
 * Lists the items at the end of a list, up to the last one for which a condition does not hold.
 * @template T
 * @param {T[]} items
 * @param {(item: T) => boolean} isNew
 * @returns {T[]} []: the last item is not new
 */
function listLastItems(items, isNew) {
  let from = items.length
  while (from > 0 && isNew(items[from - 1])) from--
  return items.slice(from)
}
