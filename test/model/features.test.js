import { describe, expect, it } from 'vitest'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import {
  createFeatures,
  FEATURE_NAMES,
  FEATURES,
  featureSet,
  findUnsupportedFeatures,
  listFeatures,
  recordedFeatures,
} from '../../src/model/features.js'

const dataPlanes = Object.values(await loadPlanes())

describe('featureSet', () => {
  it('writes a set of features in one way', () => {
    expect(featureSet.parse('lean')).toBe('lean')
    expect(featureSet.parse('metrics+access-log')).toBe('access-log+metrics')
    expect(featureSet.parse('all')).toBe('all')
    expect(featureSet.parse(FEATURE_NAMES.toReversed().join('+'))).toBe('all')
    expect(listFeatures('all')).toEqual(FEATURE_NAMES)
  })

  it('names the nearest of an unknown feature', () => {
    expect(featureSet.safeParse('acces-log').error?.issues[0].message).toContain(
      'unknown feature "acces-log"; did you mean "access-log"? (one of: lean, all, access-log',
    )
    expect(featureSet.safeParse('access-log+access-log').error?.issues[0].message).toContain('names a feature twice')
  })
})

describe('featuresOf', () => {
  it('is empty for a record older than features, and for lean', () => {
    expect([listFeatures(undefined), listFeatures('lean')]).toEqual([[], []])
    expect([createFeatures(undefined), createFeatures('lean')]).toEqual([{}, {}])
  })

  it('throws on a name that is not known, which would be lean under another label', () => {
    expect(() => createFeatures('access-log+mirroring')).toThrow('this kit has no "mirroring"')
    expect(() => recordedFeatures.parse('access-log+mirroring')).toThrow('access-log+mirroring')
    for (const text of ['lean', 'all', 'access-log+metrics']) expect(recordedFeatures.parse(text)).toBe(text)
  })

  it('has what the model is given of each', () =>
    expect(createFeatures('access-log')).toEqual({ 'access-log': FEATURES['access-log'] }))
})

describe('findUnsupportedFeatures', () => {
  it('names what a plane cannot be given', () => {
    expect(findUnsupportedFeatures({}, { tls: 'ecdsa-p256', features: 'access-log' })).toBe(
      'the kit gives it no access-log',
    )
    expect(
      findUnsupportedFeatures({ features: ['access-log'] }, { tls: 'ecdsa-p256', features: 'access-log' }),
    ).toBeNull()
    expect(findUnsupportedFeatures({}, { tls: 'ecdsa-p256', features: 'lean' })).toBeNull()
  })

  it('wants identities to authorise peers by', () =>
    expect(
      findUnsupportedFeatures({ features: ['authorization'] }, { tls: 'plaintext', features: 'authorization' }),
    ).toBe('authorization is by the identity of a certificate, and plaintext has none'))

  it('finds nothing lacking of the planes that have scripts or a bootstrap for all', () => {
    const whole = dataPlanes.filter(
      plane => findUnsupportedFeatures(plane, { tls: 'ecdsa-p256', features: FEATURE_NAMES.join('+') }) === null,
    )
    expect(whole.map(({ name }) => name)).toEqual(['pipy', 'envoy'])
  })
})
