import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openCertificates } from '../../src/run/certificates.js'
import { createArm, DEFAULT_CONDITIONS } from '../fakes/fake-records.js'

let folder = ''
beforeEach(() => {
  folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'certificates-test-')), 'keys')
})
afterEach(() => rmSync(path.dirname(folder), { recursive: true }))

/** @param {('ecdsa-p256' | 'rsa-2048')[]} keyTypes of the arms */
const open = (...keyTypes) =>
  openCertificates({
    ledger: /** @type {any} */ ({ folder: path.dirname(folder) }),
    plan: /** @type {any} */ ({
      arms: keyTypes.map(tls => createArm({ conditions: { ...DEFAULT_CONDITIONS, tls } })),
    }),
    topologies: {},
  })

const modeOf = (/** @type {string} */ name) => (statSync(path.join(folder, name)).mode & 0o777).toString(8)

describe('openCertificates', () => {
  it('writes keys that no other user can read, flawed ones too, and none of an authority', async () => {
    await open('rsa-2048')
    expect(readdirSync(folder)).toEqual(['certificates', 'certificates-rsa'])
    for (const own of readdirSync(folder)) {
      expect([own, path.join(own, 'refused')].map(modeOf)).toEqual(['700', '700'])
      const keys = readdirSync(path.join(folder, own), { recursive: true, encoding: 'utf8' }).filter(name =>
        name.endsWith('-key.pem'),
      )
      expect(keys).toEqual(expect.arrayContaining(['client-key.pem', 'refused/expired-key.pem']))
      expect(new Set(keys.map(name => modeOf(path.join(own, name))))).toEqual(new Set(['600']))
      expect(keys).not.toContain('ca-key.pem')
    }
  })

  it('removes the keys of every type, unless services that read them stay', async () => {
    const { close } = await open('ecdsa-p256', 'rsa-2048')
    close({ retain: true })
    expect(readdirSync(folder)).toHaveLength(2)
    close({ retain: false })
    expect(existsSync(folder)).toBe(false)
  })
})
