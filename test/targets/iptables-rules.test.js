import { expect, it } from 'vitest'
import { renderRedirectRules } from '../../src/targets/iptables-rules.js'

const renderLines = (/** @type {Parameters<typeof renderRedirectRules>} */ ...args) =>
  renderRedirectRules(...args).split('\n')

it('redirect what comes in and what the application opens, but for the ports and the user of the sidecar', () => {
  expect(renderLines({ inbound: 15003, outbound: 15001 }, [15003, 15000])).toEqual([
    '*nat',
    '-A PREROUTING -p tcp --dport 15003 -j RETURN',
    '-A PREROUTING -p tcp --dport 15000 -j RETURN',
    '-A PREROUTING -p tcp -j REDIRECT --to-ports 15003',
    '-A OUTPUT -p tcp -m owner --uid-owner 1500 -j RETURN',
    '-A OUTPUT -p tcp -d 127.0.0.0/8 -j RETURN',
    '-A OUTPUT -p tcp -j REDIRECT --to-ports 15001',
    'COMMIT',
    '',
  ])
})

it('let all connections pass without a sidecar, which the kernel then tracks', () => {
  const lines = renderLines({ inbound: null, outbound: null }, [])
  expect(lines).toContain('-A PREROUTING -p tcp -j RETURN')
  expect(lines).toContain('-A OUTPUT -p tcp -j RETURN')
  expect(lines.join()).not.toContain('REDIRECT')
})

it('translate addresses at which nothing is, for the sidecar alone and before it passes', () => {
  const [from, to] = ['198.19.0.1', '10.77.0.1'].map((address, i) => ({ address, port: [15008, 20014][i] }))
  const lines = renderLines({ inbound: 15006, outbound: null, translations: [{ from, to }] }, [])
  const translation =
    '-A OUTPUT -p tcp -m owner --uid-owner 1500 -d 198.19.0.1 --dport 15008 -j DNAT --to-destination 10.77.0.1:20014'
  expect(lines).toContain(translation)
  expect(lines.indexOf(translation)).toBeLessThan(lines.indexOf('-A OUTPUT -p tcp -m owner --uid-owner 1500 -j RETURN'))
})
