import { describe, expect, it } from 'vitest'
import { parseChoice } from '../../src/model/arms.js'

describe('parseChoice', () => {
  it.each([
    ['pipy', { plane: 'pipy', profile: null, variant: null }],
    ['envoy:osm-1.1', { plane: 'envoy', profile: 'osm-1.1', variant: null }],
    ['pipy=./scripts', { plane: 'pipy', profile: null, variant: './scripts' }],
    ['pipy=./a=b:c', { plane: 'pipy', profile: null, variant: './a=b:c' }],
  ])('reads %s', (text, choice) => expect(parseChoice(text)).toEqual(choice))
})
