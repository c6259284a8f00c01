import { describe, expect, it } from 'vitest'
import { assertAllRun, awaitEarlyExits, markEnding } from '../../src/run/alive.js'

/** @param {string} service @param {string | null} how @returns {any} */
const processOf = (service, how) => ({
  spec: { service, role: 'sidecar' },
  exited: how === null ? new Promise(() => {}) : Promise.resolve(how),
  ending: () => how,
  isStopped: () => false,
  isOutOfMemory: () => false,
  renderFailure: async (/** @type {string} */ what) => what,
})

describe('a process that is ended on purpose', () => {
  it('does not count as died, and the others do', async () => {
    const [server, client] = [processOf('server', 'signal SIGTERM'), processOf('client', 'signal SIGSEGV')]
    await expect(assertAllRun([server], 'window')).rejects.toThrow("server's sidecar died in the window")
    markEnding(server)
    await expect(assertAllRun([server], 'window')).resolves.toBeUndefined()
    await expect(assertAllRun([server, client], 'window')).rejects.toThrow("client's sidecar died in the window")
    expect((await awaitEarlyExits([server, client])).map(({ service }) => service)).toEqual(['client'])
  })
})
