import { expect, it } from 'vitest'
import { renderRouteName } from '../../src/model/routes.js'

it('names a route by its direction and by all that it matches', () => {
  const route = { host: null, pathPrefix: '/', headers: {} }
  expect(renderRouteName('inbound', route)).toBe('inbound_any_')
  expect(renderRouteName('outbound', route)).toBe('outbound_any_')
  expect(renderRouteName('outbound', { host: 'ratings', pathPrefix: '/v2', headers: { 'x-canary': 'yes' } })).toBe(
    'outbound_ratings_v2_x_canary_yes',
  )
})
