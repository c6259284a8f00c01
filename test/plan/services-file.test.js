import { describe, expect, it } from 'vitest'
import { createServicesExperiment, parseServices } from '../../src/plan/size-experiment.js'

const TEXT = `services:
  - { name: orders, requestsPerSecond: 300, p99: 20ms }
  - { name: images-2, requestsPerSecond: 0.5, payload: 64KiB }
`
const parse = (/** @type {string} */ text) => parseServices(text, 'services.yaml')
const asked = { features: null, link: 'pair', users: null, p99Ms: 50, payloadBytes: null }

describe('parseServices', () => {
  it('reads services with their loads', () => {
    expect(parse(TEXT)).toEqual([
      { name: 'orders', ratePerSecond: 300, p99Ms: 20, payloadBytes: null },
      { name: 'images-2', ratePerSecond: 0.5, p99Ms: null, payloadBytes: 65536 },
    ])
  })

  it.each([
    ['services: []', 'services.yaml:1: services: at least one service is needed'],
    [TEXT.replace('requestsPerSecond: 300', 'rate: 300'), 'services.yaml:2: services.0.rate: unknown name "rate"'],
    [TEXT.replace('images-2', 'orders'), 'services.yaml:1: services: two services have the same name'],
    [TEXT.replace('orders', 'Orders'), 'services.yaml:2: services.0.name: lower case letters, digits and hyphens'],
    [TEXT.replace('20ms', '20'), 'services.yaml:2: services.0.p99: a time such as 20ms or 1.5s is needed'],
    [TEXT.replace('64KiB', 'much'), 'services.yaml:3: services.1.payload: a size such as 1KiB is needed'],
    [TEXT.replace('0.5', '0'), 'services.yaml:3: services.1.requestsPerSecond: at least 0.1 requests/s'],
    [TEXT.replace('20ms', '2000s'), 'services.yaml:2: services.0.p99: at most 60 s'],
  ])('refuses %j', (text, message) => expect(() => parse(text)).toThrow(message))
})

describe('createServicesExperiment', () => {
  it('asks for every payload once, with the p99 of those that say none', () => {
    const { axes, search } = createServicesExperiment({ ...asked, services: parse(TEXT) })
    expect(axes).toMatchObject({ ratePerSecond: [300], payloadBytes: [1024, 65536], link: ['pair'] })
    expect(search).toEqual({
      kind: 'services',
      services: [
        { name: 'orders', ratePerSecond: 300, p99Ms: 20, payloadBytes: 1024 },
        { name: 'images-2', ratePerSecond: 0.5, p99Ms: 50, payloadBytes: 65536 },
      ],
    })
  })

  it('names a service without a p99', () => {
    expect(() => createServicesExperiment({ ...asked, p99Ms: null, services: parse(TEXT) })).toThrow(
      'the service images-2 has no p99: add one such as p99: 20ms, or --p99',
    )
  })
})
