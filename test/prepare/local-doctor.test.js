import { describe, expect, it } from 'vitest'
import { adsTool } from '../../src/dataplanes/envoy/ads-control.js'
import { checkMachine } from '../../src/prepare/local-doctor.js'

/**
 * What is said of a program that only `--control ads` needs, and which ways of looking for it were taken.
 * @param {boolean} isLater @param {() => Promise<any>} [find]
 */
async function examine(isLater, find = async () => ({ missing: 'no ads' })) {
  /** @type {string[]} */
  const ways = []
  const look = (/** @type {string} */ way) => () => {
    ways.push(way)
    return find()
  }
  const findings = await checkMachine({
    specs: [],
    others: [{ spec: adsTool, option: '--control ads', isLater }],
    findTool: look('built'),
    findBuilt: look('looked for'),
  })
  return { ways, said: findings.filter(({ text }) => text.startsWith('ads')) }
}

describe('the program of a control plane that no default run needs', () => {
  it('is not built unless requested: the first run that needs it does', async () => {
    const text = 'ads: the first run with --control ads builds it (npm run doctor -- --control ads does it now)'
    expect(await examine(true)).toEqual({ ways: ['looked for'], said: [{ level: 'ok', text }] })
  })

  it('is named with its version if it was built before', async () => {
    const tool = { name: 'ads', version: '0.14.0', path: '/cache/ads', sha256: '', source: 'cache' }
    const { said } = await examine(true, async () => tool)
    expect(said).toEqual([{ level: 'ok', text: 'ads 0.14.0: /cache/ads (cache)' }])
  })

  it('is built if requested, and a warning says why it could not be', async () => {
    const text = 'ads, for --control ads only: no ads'
    expect(await examine(false)).toEqual({ ways: ['built'], said: [{ level: 'warning', text }] })
  })

  it('is a warning if one is there that does not run: no run would build another', async () => {
    const { said } = await examine(true, () => Promise.reject(new Error('/mine/ads does not run')))
    expect(said).toEqual([{ level: 'warning', text: 'ads, for --control ads only: /mine/ads does not run' }])
  })
})
