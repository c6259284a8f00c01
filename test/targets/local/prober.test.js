import { spawn } from 'node:child_process'
import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { SiteLostError } from '../../../src/lib/errors.js'
import { killProcess } from '../../../src/lib/kill-process.js'
import { waitForCondition } from '../../../src/lib/wait.js'
import { UPSTREAMS } from '../../../src/parity/beside/upstreams.js'
import { listMarkedProcesses } from '../../../src/targets/local/marks.js'
import { createLocalProber } from '../../../src/targets/local/prober.js'

const runId = `prober-test-${process.pid}`
const address = '127.99.7.1'
const configuration = /** @type {const} */ ({ tls: 'plaintext', protocol: 'http/1.1', trafficPolicy: 'open' })
const rig = {
  ...{ address, ca: '', credentials: {}, sidecars: {} },
  configuration: { ...configuration, suite: '', group: 'X25519', groups: ['X25519'] },
}
const listProcesses = () => listMarkedProcesses().filter(marked => marked.runId === runId)
const awaitEnd = () => waitForCondition(() => listProcesses().length === 0, { what: 'all to end', deadlineSeconds: 5 })
afterEach(() => {
  for (const { pid } of listProcesses()) killProcess(pid)
})

/** @param {http.RequestListener} answer */
async function serve(answer) {
  const server = http.createServer(answer)
  onTestFinished(() => void server.close())
  const endpoint = { address, port: 8080 }
  await new Promise(resolve => server.listen(endpoint.port, address, () => resolve(null)))
  return endpoint
}

describe('the prober of this machine', () => {
  it('serves the upstreams of the corpus from processes of their own, which end with it', async () => {
    const { call } = createLocalProber({ runId })
    await call('open', rig)
    // The agent, and the upstream that takes no connections.
    expect(listProcesses()).toHaveLength(2)
    const a = { address, port: UPSTREAMS.a }
    const request = { host: 'a', headers: { connection: 'keep-alive' } }
    const { status, headers } = await call('send', { endpoint: a, request })
    // A connection that a sidecar keeps is never closed for being idle.
    expect([status, headers['keep-alive']]).toEqual([200, undefined])
    await expect(call('send', { endpoint: { ...a, port: UPSTREAMS.gone }, request: { host: 'a' } })).rejects.toThrow(
      'ECONNREFUSED',
    )
    await call('close', undefined)
    await awaitEnd()
  })

  it('asks from this process while no rig is open', async () => {
    const endpoint = await serve((_, response) => response.end('here'))
    const { call } = createLocalProber({ runId })
    await call('close', undefined)
    const answer = await call('send', { endpoint, request: { host: 'a' } })
    expect(answer.body).toBe('here')
    expect(listProcesses()).toEqual([])
  })

  it.for([
    ['this process', () => null],
    ['a process in the network namespace of services', () => []],
  ])('ends a call from %s when its signal aborts, with the request that it made', async ([, enter]) => {
    const aborting = new AbortController()
    let isClosed = false
    const endpoint = await serve((_, response) => {
      response.on('close', () => {
        isClosed = true
      })
      response.write('x', () => aborting.abort())
    })
    const createEnterArgv = /** @type {() => string[] | null} */ (enter)
    const { call, close } = createLocalProber({ runId, createEnterArgv })
    onTestFinished(close)
    await expect(call('stream', { endpoint, request: { host: 'a' } }, { signal: aborting.signal })).rejects.toThrow(
      /aborted/,
    )
    await waitForCondition(() => isClosed, { what: 'the request to end', deadlineSeconds: 5 })
  })

  it('asks what others want to know from this process, which goes on if the rig is closed', async () => {
    /** @type {() => void} */
    let close = () => {}
    const endpoint = await serve(async (_, response) => {
      close()
      await awaitEnd()
      response.end('here')
    })
    const { call } = createLocalProber({ runId })
    await call('open', rig)
    close = () => void call('close', undefined)
    const answer = await call('send', { endpoint, request: { host: 'a' } })
    expect(answer.body).toBe('here')
  })

  it('leaves nothing behind if the upstreams cannot start, and says why', async () => {
    const { call } = createLocalProber({ runId })
    await expect(call('open', { ...rig, address: '192.0.2.1' })).rejects.toThrow('EADDRNOTAVAIL')
    expect(listProcesses()).toEqual([])
    await expect(call('probeAnswers', { requestSeconds: 4 })).rejects.toThrow('the rig is not open')
  })

  it('says at once why the upstream that takes no connections cannot start', async () => {
    const holder = net.createServer()
    await new Promise(resolve => holder.listen(UPSTREAMS.full, address, () => resolve(null)))
    try {
      await expect(createLocalProber({ runId }).call('open', rig)).rejects.toThrow(
        /the upstream that takes no connections ended: .*EADDRINUSE/,
      )
    } finally {
      holder.close()
    }
  })

  it('does not take another program that takes no connections for that upstream', async () => {
    const listen = `require('net').createServer().listen({ port: ${UPSTREAMS.full}, host: '${address}', backlog: 1 }, () => {
      require('fs').writeSync(1, 'listening')
      process.kill(process.pid, 'SIGSTOP')
    })`
    const holder = spawn(process.execPath, ['-e', listen], { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(holder.stdout, 'data')
    // More than its backlog holds, so that the next stays unconnected.
    const sockets = Array.from({ length: 5 }, () => net.connect(UPSTREAMS.full, address).on('error', () => {}))
    try {
      await waitForCondition(() => !sockets[0].connecting, { what: 'the first to connect', deadlineSeconds: 5 })
      await expect(createLocalProber({ runId }).call('open', rig)).rejects.toThrow(/EADDRINUSE/)
    } finally {
      for (const socket of sockets) socket.destroy()
      holder.kill('SIGKILL')
    }
  })

  it('says that it is lost if its process is killed', async () => {
    const { call } = createLocalProber({ runId })
    await call('open', rig)
    // It answers nothing before it is killed.
    for (const { pid } of listProcesses()) process.kill(pid, 'SIGSTOP')
    const pending = call('probePooling', undefined)
    // The agent began before its upstream: that is stopped, and must not stay.
    killProcess(Math.min(...listProcesses().map(({ pid }) => pid)))
    await expect(pending).rejects.toThrow(SiteLostError)
    await awaitEnd()
    await call('close', undefined)
  })

  it('closes a stopped agent, of which a pending call says that it is lost', async () => {
    const { call } = createLocalProber({ runId })
    await call('open', rig)
    for (const { pid } of listProcesses()) process.kill(pid, 'SIGSTOP')
    const lost = expect(call('probePooling', undefined)).rejects.toThrow(SiteLostError)
    await call('close', undefined)
    await lost
    await awaitEnd()
  })
})
