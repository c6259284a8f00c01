import http from 'node:http'
import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { BenchError } from '../../src/lib/errors.js'
import { parseAddress } from '../../src/live/address.js'
import { startLiveServer } from '../../src/live/server.js'
import { createRunState } from '../../src/live/state.js'
import { listen, until } from './event-client.js'
import { ARMS, createSidecarSpec, endTrial, plan, sample, startTrial } from './fake-events.js'

/** @import { RunEvent } from '../../src/run/events.js' */

const [, cheap, dear] = ARMS
const ASSETS = { echarts: 'var echarts', modules: { '/charts/rounds.js': 'export const a = 1' } }

/** @param {{ text?: string, events?: RunEvent[] }} [options] */
async function serve({ text = ':0', events = [] } = {}) {
  const state = createRunState()
  for (const event of events) state.apply(event)
  const address = parseAddress(text, '--live')
  const server = await startLiveServer({ address, state, assets: ASSETS, intervalMs: 20 })
  onTestFinished(server.close)
  const emit = (/** @type {RunEvent[]} */ ...newEvents) => {
    for (const event of newEvents) {
      state.apply(event)
      server.publish(event)
    }
  }
  return { ...server, state, emit }
}

/**
 * A browser that has all there is, unless it does not read.
 * @param {Awaited<ReturnType<typeof serve>>} server @param {{ isReading?: boolean }} [options]
 */
async function join(server, { isReading = true } = {}) {
  const client = await listen(server.url, { isReading })
  onTestFinished(client.destroy)
  if (isReading) await client.waitFor('reset')
  return client
}

/** A reading of a sidecar that uses a tenth of a core. @param {number} seconds */
const read = seconds =>
  sample({ seconds, reading: { atSeconds: seconds, cpuSeconds: 0.1 * seconds, throttledPeriods: 10 * seconds } })

describe('the files of the page', () => {
  it('are served, and nothing else', async () => {
    const { url } = await serve()
    const get = async (/** @type {string} */ path) => {
      const response = await fetch(new URL(path, url))
      return { status: response.status, headers: response.headers, text: await response.text() }
    }
    const page = await get('/')
    expect(page.text).toMatch(/^<!doctype html>/)
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'unsafe-inline' 'self'; connect-src 'self'; img-src data:",
      'x-content-type-options': 'nosniff',
    })
    expect((await get('/?a=b')).text).toBe(page.text)
    const script = await get('/live.js')
    expect(script.headers.get('content-type')).toBe('text/javascript; charset=utf-8')
    for (const [, name] of script.text.matchAll(/^import .* from '\.(\/[^']+)'/gm))
      expect((await get(name)).status, name).toBe(200)
    expect((await get('/echarts.js')).text).toBe(ASSETS.echarts)
    expect((await get('/charts/rounds.js')).text).toBe('export const a = 1')
    for (const path of '/charts/other.js /charts/ /page.html /../package.json /__proto__ /favicon.ico'.split(' ')) {
      expect((await get(path)).status, path).toBe(404)
    }
  })

  it.each(['POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS'])('are not for %s', async method => {
    const { url } = await serve()
    for (const path of ['', 'events', 'other']) {
      const response = await fetch(url + path, { method })
      expect(response.status).toBe(405)
      expect(response.headers.get('allow')).toBe('GET')
    }
  })
})

describe('the address', () => {
  it('that is taken ends the start with what to do', async () => {
    const { url } = await serve()
    const { port } = new URL(url)
    const again = serve({ text: `:${port}` })
    await expect(again).rejects.toThrow(BenchError)
    await expect(again).rejects.toThrow(
      `--live :${port}: port ${port} of 127.0.0.1 is in use by something else: give another`,
    )
  })

  it("that is another machine's ends the start with what to do", async () => {
    await expect(serve({ text: '192.0.2.1:8080' })).rejects.toThrow(
      '--live 192.0.2.1:8080: this machine has no address 192.0.2.1: give one that it has, or a port alone',
    )
  })

  it('is this machine alone, unless another is requested', async () => {
    expect((await serve()).url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/)
    expect((await serve({ text: '0.0.0.0:0' })).url).not.toContain('0.0.0.0')
  })
})

describe('the events', () => {
  it('begin with all there is', async () => {
    const events = [plan(), startTrial(cheap), read(-0.1), read(0), endTrial({ arm: cheap })]
    const server = await serve({ events })
    const client = await join(server)
    const { state } = server
    expect(await client.waitFor('reset')).toEqual({
      ...{ snapshot: state.snapshot(), series: state.series(), results: state.results(), rows: state.rows() },
    })
    expect(client.names()).toEqual(['retry: 2000', 'reset'])
    expect(client.response.headers).toMatchObject({ 'content-type': 'text/event-stream; charset=utf-8' })
    await delay(60)
    expect(client.names(), 'nothing changed').toEqual(['retry: 2000', 'reset'])
  })

  it('go on with what is new: each point once, however many listen', async () => {
    const server = await serve({ events: [plan(), startTrial(cheap), read(0), read(1)] })
    const first = await join(server)
    server.emit(read(2), read(3))
    const second = await join(server)
    const reset = await second.waitFor('reset')
    expect(reset.series[0].anonBytes.map((/** @type {number[]} */ [at]) => at)).toEqual([0, 1, 2, 3])
    server.emit(read(4))
    const last = (/** @type {any} */ data) => data.points[0]?.cores.at(-1)?.[0] === 4
    await Promise.all([first.waitFor('state', last), second.waitFor('state', last)])
    const timesOf = (/** @type {typeof first} */ client) =>
      client.events
        .filter(({ name }) => name === 'state')
        .flatMap(({ data }) => data.points[0].cores.map((/** @type {number[]} */ [at]) => at))
    expect([timesOf(first), timesOf(second)]).toEqual([[2, 3, 4], [4]])
    const { data } = /** @type {any} */ (first.events.findLast(({ name }) => name === 'state'))
    expect(data.snapshot).toEqual(server.state.snapshot())
    expect(data.points[0].throttled, 'a stretch that became longer').toEqual([[0, 4]])
  })

  it('report a trial that ended and one that starts, in this order', async () => {
    const server = await serve({ events: [plan(), startTrial(cheap), read(0), read(1)] })
    const client = await join(server)
    server.emit(endTrial({ arm: cheap }), startTrial(dear), read(0), read(0.5))
    await client.waitFor('state')
    expect(client.names()).toEqual(['retry: 2000', 'reset', 'trial', 'new-trial', 'state'])
    const [trial, , state] = client.events.slice(2).map(({ data }) => data)
    expect(trial).toEqual({ result: server.state.results()[0], rows: server.state.rows() })
    expect(state.points[0].cores).toEqual([[0.5, 0.1]])
  })

  it('begin anew when the plan is another', async () => {
    const server = await serve({ events: [plan()] })
    const client = await join(server)
    server.emit(plan({ arms: [cheap] }))
    const { rows } = await client.waitFor('reset', data => data.rows.length === 1)
    expect(rows[0].label).toBe('cheap')
  })

  it('begin with all there is after a connection was lost', async () => {
    const server = await serve({ events: [plan(), startTrial(cheap), read(0)] })
    const first = await join(server)
    first.destroy()
    server.emit(read(1), endTrial({ arm: cheap }))
    await delay(50)
    const second = await join(server)
    const { series, results } = await second.waitFor('reset')
    expect(series[0].cores).toEqual([[1, 0.1]])
    expect(results).toHaveLength(1)
    await delay(50)
    expect(second.names()).toEqual(['retry: 2000', 'reset'])
  })

  it('end with the run, also for who comes later', async () => {
    const server = await serve({ events: [plan(), startTrial(cheap)] })
    const client = await join(server)
    server.emit(endTrial({ arm: cheap }), { kind: 'ended', outcome: 'finished', atMs: 1 })
    const { snapshot } = await client.waitFor('end')
    expect(snapshot.ending).toEqual({ outcome: 'finished' })
    expect(client.names().slice(2)).toEqual(['trial', 'state', 'end'])
    const late = await join(server)
    await late.waitFor('end')
    expect(late.names()).toEqual(['retry: 2000', 'reset', 'end'])
    await until(() => client.isEnded() && late.isEnded(), 'the connections to be closed')
  })
})

describe('browsers', () => {
  it('that go away are forgotten, and the others go on', async () => {
    const server = await serve({ events: [plan(), startTrial(cheap)] })
    const [gone, there] = [await join(server), await join(server)]
    for (let i = 0; i < 20; i++) {
      server.emit(read(i))
      if (i === 5) gone.response.socket.resetAndDestroy()
      await delay(5)
    }
    await there.waitFor('state', data => data.points[0]?.anonBytes.at(-1)?.[0] === 19)
    expect((await fetch(server.url)).status).toBe(200)
  })

  it('that do not read are dropped, and the others go on', async () => {
    const specs = Array.from({ length: 300 }, (_, i) => createSidecarSpec(`server-${i}-${'x'.repeat(1000)}`))
    const server = await serve({ events: [plan(), startTrial(cheap)] })
    const [there, slow] = [await join(server), await join(server, { isReading: false })]
    let isDropped = false
    slow.response.socket.on('close', () => {
      isDropped = true
    })
    let seconds = 0
    await until(() => {
      server.emit(sample({ seconds: seconds++, reading: { atSeconds: seconds }, specs }))
      // It learns of it when it reads again: by then, more was sent than its socket holds and a megabyte.
      if (seconds === 100) slow.response.resume()
      return isDropped
    }, 'the slow one to be dropped')
    await there.waitFor('state', data => data.points[0]?.anonBytes.at(-1)?.[0] >= seconds - 1)
    expect(there.isEnded()).toBe(false)
  })

  it('do not keep the process from ending', async () => {
    const server = await serve({ events: [plan()] })
    const client = await join(server)
    const silent = await join(server, { isReading: false })
    const idle = http.request(new URL(server.url), { agent: new http.Agent({ keepAlive: true }) })
    await new Promise(resolve => idle.on('response', r => r.resume().on('end', resolve)).end())
    idle.on('error', () => {})
    const start = performance.now()
    await server.close()
    expect(performance.now() - start).toBeLessThan(1000)
    await until(() => client.isEnded(), 'the connection to be closed')
    silent.destroy()
    await expect(fetch(server.url)).rejects.toThrow()
    await server.close()
  })
})

describe('many connections', () => {
  it('are limited, so that they leave the run its file descriptors', async () => {
    const { url } = await serve()
    const { port } = new URL(url)
    const sockets = Array.from({ length: 200 }, () => net.connect(Number(port), '127.0.0.1'))
    for (const socket of sockets) {
      socket.on('error', () => {})
      socket.write('GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
    }
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy()
    })
    // Each address has 20, so that it leaves others some, and all together 100.
    await until(() => sockets.filter(socket => socket.destroyed).length === 180, 'the others to be closed')
    await delay(100)
    expect(sockets.filter(socket => !socket.destroyed)).toHaveLength(20)
  })
})
