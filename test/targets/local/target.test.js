import net from 'node:net'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { waitForCondition } from '../../../src/lib/wait.js'
import { createProcess } from '../../../src/model/processes.js'
import { listListeners } from '../../../src/node/kernel/sockets.js'
import { openLedger } from '../../../src/node/ledger.js'
import { createBatch } from '../../../src/services/control.js'
import { createLocalTarget } from '../../../src/targets/local/index.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { Target } from '../../../src/model/types.ts' */

const LISTEN = `require('http').createServer().listen(+process.argv[2], process.argv[1])`
const signal = new AbortController().signal
/** @type {Target} */
let target
let folder = ''
beforeEach(async () => {
  folder = makeFolder('local-target')
  target = await createLocalTarget({
    ledger: openLedger({ runId: `local-test-${process.pid}`, root: path.join(folder, 'ledgers') }),
    way: { how: 'none', version: null, reason: 'a test' },
  })
})
afterEach(async () => {
  await target.close()
})

/** @param {string} address @param {string[]} argv */
const createSpec = (address, argv = ['-e', LISTEN, address, '8080']) =>
  createProcess({
    service: 'ratings',
    role: 'application',
    program: process.execPath,
    argv,
    folder,
    listens: [{ address, port: 8080 }],
  })

/** Deploys one process. @param {string[]} [argv] of Node; else it listens */
async function deployOne(argv) {
  const { listen } = (await target.placesFor(0, ['ratings'])).ratings
  const deployment = await target.deploy([createSpec(listen, argv)], { start: 0, folder })
  return { deployment, process: deployment.processes[0] }
}
const listensAt = (/** @type {string} */ address) => listListeners().some(listener => listener.address === address)

describe('a local target without cgroups', () => {
  it('has a place for each of 500 services, which no start before it had', async () => {
    const names = Array.from({ length: 500 }, (_, i) => `ratings-${i}`)
    const starts = [await target.placesFor(0, names), await target.placesFor(1, names)]
    const addresses = starts.flatMap(places => Object.values(places).map(place => place.listen))
    expect(new Set(addresses).size).toBe(2 * 502)
    expect(addresses.filter(address => !net.isIPv4(address))).toEqual([])
  })

  it('reads the processes of each start as its own, and ends them', async () => {
    const deployments = []
    for (const start of [0, 1]) {
      const { ratings } = await target.placesFor(start, ['ratings'])
      const deployment = await target.deploy([createSpec(ratings.listen)], { start, folder })
      await deployment.processes[0].waitUntilReady(signal)
      deployments.push(deployment)
    }
    const [first, second] = await target.look(deployments.flatMap(d => d.processes))
    expect([first.workers, second.workers]).toEqual([1, 1])
    expect(first.identity).toHaveLength(1)
    expect(first.identity).not.toEqual(second.identity)
    for (const deployment of deployments) await deployment.remove()
    expect(deployments.map(d => d.processes[0].ending())).toEqual(['signal SIGKILL', 'signal SIGKILL'])
  })

  it('starts one after the other, at the pace of the caller, and reports each', async () => {
    const { ratings } = await target.placesFor(0, ['ratings'])
    /** @type {string[]} */
    const events = []
    const deployment = await target.deploy(
      [createSpec(ratings.listen), { ...createSpec(ratings.listen), service: 'gateway' }],
      {
        ...{ start: 0, folder },
        pace: async () => void events.push('pace'),
        onStart: ({ spec, startedMs }) => events.push(`${spec.service} ${Number(startedMs) <= Date.now()}`),
      },
    )
    expect(events).toEqual(['pace', 'ratings true', 'pace', 'gateway true'])
    await deployment.remove()
  })

  it('ends what a process started that outlives it, so that it does not answer in the next run', async () => {
    const { ratings } = await target.placesFor(0, ['ratings'])
    const parent = `require('child_process').spawn(process.execPath, ['-e', ...process.argv.slice(1)],
      { detached: true, stdio: 'ignore' }); setInterval(() => {}, 1000)`
    const spec = createSpec(ratings.listen, ['-e', parent, LISTEN, ratings.listen, '8080'])
    const deployment = await target.deploy([spec], { start: 0, folder })
    // What is known of its processes is from before the child.
    await target.look(deployment.processes)
    await waitForCondition(() => listensAt(ratings.listen), { what: 'the child to listen', deadlineSeconds: 5 })
    const [{ identity }] = await target.look(deployment.processes)
    expect(identity).toHaveLength(2)
    await deployment.remove()
    expect(listensAt(ratings.listen)).toBe(false)
  })

  it('starts a batch of processes as one, and counts those without what started them', async () => {
    const names = ['a', 'b', 'c']
    const places = await target.placesFor(0, names)
    const specs = names.map(name => ({ ...createSpec(places[name].listen), folder: path.join(folder, name) }))
    const deployment = await target.deploy([createBatch({ name: 'batch-1', folder, specs })], { start: 0, folder })
    const [batch] = deployment.processes
    const doListen = () => names.filter(name => listensAt(places[name].listen))
    await waitForCondition(() => doListen().length === names.length, { what: 'all to listen', deadlineSeconds: 10 })
    const [look] = await target.look([batch])
    expect(look.identity).toHaveLength(3)
    expect(look.workers).toBe(1)
    await deployment.remove()
    expect(batch.ending()).toBe('signal SIGKILL')
    expect(doListen()).toEqual([])
  })

  it('says of a process that is stopped that it is', async () => {
    const { deployment, process: running } = await deployOne()
    await running.waitUntilReady(signal)
    expect(running.isStopped()).toBe(false)
    const [pid] = (await target.look([running]))[0].identity[0].split(' ')
    process.kill(Number(pid), 'SIGSTOP')
    await waitForCondition(running.isStopped, { what: 'it to be stopped', deadlineSeconds: 2 })
    expect(await running.renderFailure('It was silent')).toMatch(
      `It was silent: its process ${pid} is stopped (state T in /proc/${pid}/stat); its log is empty`,
    )
    await deployment.remove()
    expect(running.ending()).toBe('signal SIGKILL')
  })

  it('says how a process ended that did not start, with the end of its log', async () => {
    const { deployment, process } = await deployOne(['-e', 'console.log("no such port"); process.exit(3)'])
    await expect(process.waitUntilReady(signal)).rejects.toThrow(
      /^ratings-application did not start: it ended with status 3; the end of its log \(.*\.log\):\n {2}no such port$/,
    )
    await deployment.remove()
  })

  it('is refused within seconds if a process listens at another port, with both addresses and its log', async () => {
    const script = `console.log('my own port'); ${LISTEN.replace('+process.argv[2]', '18080')}`
    const { deployment, process } = await deployOne(['-e', script, '127.0.0.1'])
    const [{ address }] = process.spec.listens
    const startMs = performance.now()
    await expect(process.waitUntilReady(signal)).rejects.toThrow(
      `ratings-application listens at 127.0.0.1:18080, and not at ${address}:8080; the end of its log (`,
    )
    expect(performance.now() - startMs).toBeLessThan(10_000)
    expect(await process.readLog()).toContain('my own port')
    await deployment.remove()
  })

  it('waits for a process that listens at another port while it is still computing, also after a thread of it ended', async () => {
    const burn = (/** @type {number} */ ms) => `for (const began = Date.now(); Date.now() - began < ${ms}; );`
    const first = `require('net').createServer().listen(18081, process.argv[1], () => setTimeout(start, 1500))`
    const thread = `new (require('worker_threads').Worker)(${JSON.stringify(burn(1800))}, { eval: true })`
    const script = `${thread}; ${first}; function start() { ${burn(2500)} ${LISTEN} }`
    const { listen } = (await target.placesFor(0, ['ratings'])).ratings
    const deployment = await target.deploy([createSpec(listen, ['-e', script, listen, '8080'])], { start: 0, folder })
    onTestFinished(() => deployment.remove())
    await deployment.processes[0].waitUntilReady(signal)
  })

  it('is refused at the deadline if a process listens nowhere', async () => {
    const { deployment, process } = await deployOne(['-e', 'console.log("busy"); setInterval(() => {}, 1000)'])
    await waitForCondition(async () => (await process.readLog()).includes('busy'), {
      what: 'its first line',
      deadlineSeconds: 10,
    })
    await expect(process.waitUntilReady(signal, { deadlineSeconds: 0.2 })).rejects.toThrow(
      /^timed out after 0.2 s waiting for ratings-application to listen \(1 sockets an address\): it has no listening socket, not at 127\.\S+:8080; the end of its log .*busy$/s,
    )
    await deployment.remove()
  })
})

describe('addresses', () => {
  it('are of a block that no other run holds', async () => {
    const root = path.join(folder, 'others')
    const other = openLedger({ runId: 'other', root })
    for (let block = 2; block <= 254; block++) if (block !== 77) other.hold('addresses', `127.${block}`)
    const way = /** @type {const} */ ({ how: 'none', version: null, reason: 'a test' })
    const second = await createLocalTarget({ ledger: openLedger({ runId: 'second', root }), way })
    expect((await second.placesFor(0, ['ratings'])).ratings.listen).toMatch(/^127\.77\./)
    await expect(createLocalTarget({ ledger: openLedger({ runId: 'third', root }), way })).rejects.toThrow(
      /no free block of loopback addresses/,
    )
    await second.close()
  })
})
