import { describe, expect, it } from 'vitest'
import { chooseTimeouts } from '../../../src/run/parity/rig.js'

describe('chooseTimeouts', () => {
  it('gives a request two seconds, and on a slow machine as many times the start of the upstreams', () => {
    expect(chooseTimeouts(0.25)).toEqual({ connectSeconds: 1, requestSeconds: 2, idleSeconds: 62 })
    expect(chooseTimeouts(0.37).requestSeconds).toBe(2)
    expect(chooseTimeouts(2)).toMatchObject({ connectSeconds: 8, requestSeconds: 16 })
    expect(chooseTimeouts(100).requestSeconds).toBe(60)
  })
})
