import { X509Certificate } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { computeLifeMs, issueRunCertificates } from '../../src/run/certificates.js'
import { createArm, DEFAULT_CONDITIONS } from '../fakes/fake-records.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { Arm, Trial } from '../../src/model/types.ts' */

let folder = ''
beforeEach(() => {
  folder = path.join(makeFolder('certificates-test'), 'keys')
})

const NO_TRIALS = { trials: [], calibrations: [], search: null }
/** @param {{ arms: Arm[], trials?: Trial[] }} plan @param {string} [service] of the links `link` and `pair` */
const openFor = async (plan, service) => {
  const services = service ? [{ name: service, application: null, calls: [] }] : []
  const opened = await issueRunCertificates({
    ledger: /** @type {any} */ ({ folder: path.dirname(folder) }),
    plan: /** @type {any} */ ({ ...NO_TRIALS, ...plan }),
    topologies: /** @type {any} */ ({ link: { name: 'link', services }, pair: { name: 'pair', services } }),
  })
  onTestFinished(() => opened.close({ retain: false }))
  return opened
}
/** @param {('ecdsa-p256' | 'rsa-2048')[]} keyTypes of the arms */
const open = (...keyTypes) =>
  openFor({ arms: keyTypes.map(tls => createArm({ conditions: { ...DEFAULT_CONDITIONS, tls } })) })

const modeOf = (/** @type {string} */ name) => (statSync(path.join(folder, name)).mode & 0o777).toString(8)

describe('issueRunCertificates', () => {
  it('writes keys that no other user can read, flawed ones too, and none of an authority', async () => {
    await open('rsa-2048')
    expect(readdirSync(folder)).toEqual(['certificates', 'certificates-rsa'])
    for (const subfolder of readdirSync(folder)) {
      expect([subfolder, path.join(subfolder, 'refused')].map(modeOf)).toEqual(['700', '700'])
      const keys = readdirSync(path.join(folder, subfolder), { recursive: true, encoding: 'utf8' }).filter(name =>
        name.endsWith('-key.pem'),
      )
      expect(keys).toEqual(expect.arrayContaining(['client-key.pem', 'refused/expired-key.pem']))
      expect(new Set(keys.map(name => modeOf(path.join(subfolder, name))))).toEqual(new Set(['600']))
      expect(keys).not.toContain('ca-key.pem')
    }
  })

  it('writes certificates for each copy of the link of an arm', async () => {
    await openFor({ arms: [createArm({ link: 'pair', conditions: { ...DEFAULT_CONDITIONS, pairs: 3 } })] }, 'one')
    expect(readdirSync(path.join(folder, 'certificates'))).toEqual(
      expect.arrayContaining(['one-key.pem', 'one-of-2-key.pem', 'one-of-3-key.pem']),
    )
  })

  it('says where and why they cannot be written', async () => {
    writeFileSync(folder, '')
    await expect(open('ecdsa-p256')).rejects.toThrow(
      new RegExp(`^cannot make certificates in ${folder}/certificates: Error: (ENOTDIR|EEXIST)`),
    )
    // Nothing of a failed try is left.
    expect(existsSync(folder)).toBe(false)
  })

  it('removes the keys of every type, unless services that read them stay', async () => {
    const { close } = await open('ecdsa-p256', 'rsa-2048')
    close({ retain: true })
    expect(readdirSync(folder)).toHaveLength(2)
    close({ retain: false })
    expect(existsSync(folder)).toBe(false)
  })
})

describe('certificates that change', () => {
  it('have a second one of each service, with its identity and its name', async () => {
    const conditions = /** @type {const} */ ({ ...DEFAULT_CONDITIONS, changesPerMinute: 60, changed: 'certificate' })
    const { certificates } = await openFor({ arms: [createArm({ link: 'pair', conditions })] }, 'ratings')
    const read = (/** @type {string} */ name) =>
      new X509Certificate(readFileSync(path.join(certificates, `${name}.pem`)))
    const [first, next] = ['ratings', 'ratings-next'].map(read)
    expect(next.subjectAltName).toBe(first.subjectAltName)
    expect(next.checkIssued(read('ca'))).toBe(true)
    expect(next.fingerprint256).not.toBe(first.fingerprint256)
    expect(existsSync(path.join(certificates, 'client-next.pem'))).toBe(false)
  })
})

describe('computeLifeMs', () => {
  const HOUR_MS = 3600 * 1000
  const planOf = (/** @type {number} */ hours) => {
    const arm = createArm({ load: { warmupSeconds: 20, windowSeconds: 50 } })
    const trial = { id: 'r1-a', round: 1, arm, repeats: null, searchOf: null }
    return { ...NO_TRIALS, trials: Array(Math.round((hours * 3600) / 71.4)).fill(trial), arms: [arm] }
  }

  it('is a day, and for a long plan longer than it takes at most', () => {
    expect(computeLifeMs(planOf(1))).toBe(24 * HOUR_MS)
    expect(computeLifeMs(planOf(48)) / HOUR_MS).toBeCloseTo(3 * 48 + 1, 0)
  })

  it('is what leaves and authority have', async () => {
    const { certificates } = await openFor(planOf(48))
    for (const name of ['ca', 'client']) {
      const { validTo } = new X509Certificate(readFileSync(path.join(certificates, `${name}.pem`)))
      expect((Date.parse(validTo) - Date.now()) / HOUR_MS).toBeCloseTo(145, 0)
    }
  })
})
