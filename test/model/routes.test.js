import { expect, it } from 'vitest'
import { formatRouteName } from '../../src/model/routes.js'

it('names a route by its direction and by all that it matches', () => {
  const route = { host: null, pathPrefix: '/', headers: {} }
  expect(formatRouteName('inbound', route)).toBe('inbound_any_')
  expect(formatRouteName('outbound', route)).toBe('outbound_any_')
  expect(formatRouteName('outbound', { host: 'ratings', pathPrefix: '/v2', headers: { 'x-canary': 'yes' } })).toBe(
    'outbound_ratings_v2_x_canary_yes',
  )
})
