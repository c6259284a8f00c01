import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { k6 } from '../../../src/loads/k6/index.js'
import { openLedger } from '../../../src/node/ledger.js'
import { checkLoadHost } from '../../../src/targets/load-host/doctor.js'
import { installFakeSsh } from '../../fakes/fake-ssh.js'

/** @import { LoadGenerator } from '../../../src/model/types.ts' */

const ADDRESS = '127.0.0.1'

/** @type {ReturnType<typeof installFakeSsh>} */
let ssh
beforeEach(() => {
  ssh = installFakeSsh()
})
afterEach(() => ssh.close())

/**
 * A generator that says it had no answer at some ports, without asking.
 * @param {string} name @param {number[]} closed ports @returns {LoadGenerator}
 */
function createLoad(name, closed) {
  ssh.addProgram(name, '#!/bin/sh\n[ "$1" = version ] && echo "k6 v1.1.0 (go1.24)" || echo "verified $1"\n')
  return {
    ...k6,
    name,
    tool: { ...k6.tool, name, versionArgv: ['version'] },
    createGenerator: options => ({
      ...k6.createGenerator(options),
      argv: [closed.some(port => options.urls[0].endsWith(`:${port}/`)) ? '0' : '1'],
      scripts: [],
    }),
    parseResult: log => /** @type {any} */ ({ verified: Number(/verified (\d)/.exec(log)?.[1]) }),
  }
}

/** @param {LoadGenerator[]} loads */
const examine = loads =>
  checkLoadHost({
    ...{ host: 'there.test', requestedAddress: ADDRESS, loads, say: () => {}, signal: new AbortController().signal },
    findHere: async () => ({ missing: 'nothing is here' }),
  })

describe('what a run with its load on another machine would be refused for', () => {
  it('is nothing if the generator reaches every port at which a load may enter', async () => {
    const findings = await examine([createLoad('good', [])])
    expect(findings.map(({ level }) => level)).toEqual(['ok', 'ok', 'ok', 'ok'])
    expect(findings[3].text).toBe(`good on there.test reaches ${ADDRESS}, at 15003, 15001, 8080`)
  })

  it.each([15001, 8080])('is a firewall that lets 15003 through, and not %i', async port => {
    const findings = await examine([createLoad('good', [port])])
    expect(findings.at(-1)?.level).toBe('missing')
    expect(findings.at(-1)?.text).toContain(`there.test cannot reach ${ADDRESS}:${port}: let it through the firewall`)
  })

  it('is not another generator than the default', async () => {
    const findings = await examine([createLoad('good', []), createLoad('other', [15003])])
    expect(findings.map(({ level }) => level)).toEqual(['ok', 'ok', 'ok', 'ok', 'ok', 'warning'])
  })

  it('is another run whose load comes to the address', async () => {
    const ledger = openLedger({ runId: `test-${process.pid}` })
    try {
      ledger.hold('addresses', ADDRESS)
      const findings = await examine([createLoad('good', [])])
      expect(findings.at(-1)).toEqual({
        level: 'missing',
        text: expect.stringContaining(`the run test-${process.pid} (process ${process.pid}) uses`),
      })
    } finally {
      ledger.release('addresses', ADDRESS)
      ledger.close()
    }
  })
})
