import { expect, it } from 'vitest'
import { abridge } from './abridge.js'

const filter = { name: 'router', typed_config: { a: 1, b: 2 } }
const lean = { listeners: [{ name: 'inbound', filters: [filter] }] }
const base = { name: 'lean', value: lean }

it('names what the base or an earlier part has, and keeps what differs', () => {
  expect(abridge(lean, base)).toBe('= lean')
  const changed = { listeners: [{ name: 'inbound', filters: [filter], port: 1 }, filter] }
  expect(abridge(changed, base)).toEqual({
    listeners: [
      { name: 'inbound', filters: '= lean.listeners.inbound.filters', port: 1 },
      '= lean.listeners.inbound.filters.router',
    ],
  })
  expect(abridge({ a: filter, b: filter })).toEqual({ a: filter, b: '= a' })
})

it('shows a value that changed anywhere, also the order of keys', () => {
  const one = { name: 'router', typed_config: { a: 1, b: 3 } }
  expect(abridge(one, base)).toEqual(one)
  const turned = { name: 'router', typed_config: { b: 2, a: 1 } }
  expect(abridge(turned, base)).toEqual(turned)
})
