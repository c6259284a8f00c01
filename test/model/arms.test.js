import { describe, expect, it } from 'vitest'
import { parsePlaneChoice, pickPlaneChoice, renderArmName } from '../../src/model/arms.js'

describe('parsePlaneChoice', () => {
  it.each([
    ['pipy', { plane: 'pipy', profile: null, variant: null }],
    ['envoy:osm-1.1', { plane: 'envoy', profile: 'osm-1.1', variant: null }],
    ['envoy@file', { plane: 'envoy', profile: null, variant: null, control: 'file' }],
    ['pipy@repo=./a@b', { plane: 'pipy', profile: null, variant: './a@b', control: 'repo' }],
    ['pipy=./scripts', { plane: 'pipy', profile: null, variant: './scripts' }],
    ['pipy=./a=b:c', { plane: 'pipy', profile: null, variant: './a=b:c' }],
  ])('reads %s', (text, choice) => expect(parsePlaneChoice(text)).toEqual(choice))

  const names = ['pipy', 'envoy:osm-1.1', 'envoy:osm-1.1@file', 'pipy@repo=scripts']
  it.each(names)('reads the name of an arm: %s', name => {
    expect(renderArmName(parsePlaneChoice(name))).toBe(name)
    expect(pickPlaneChoice(parsePlaneChoice(name))).toEqual(parsePlaneChoice(name))
  })
})
