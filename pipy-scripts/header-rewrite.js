// Headers that are set and removed, of each request that a route takes and of its answer.
// Imported only where the model has this feature.

import config from './config.js'

var { request, response } = config.features['header-rewrite']

export function wrap(next, { route }) {
  if (!route) return next
  return $ => next($.handleMessageStart(start => rewrite(start.head.headers, request)))
    .handleMessageStart(start => rewrite(start.head.headers, response))
}

function rewrite(headers, { set, remove }) {
  remove.forEach(name => delete headers[name])
  Object.assign(headers, set)
}
