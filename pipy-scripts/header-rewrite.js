// Headers that are set and removed, of each request that a route takes and of its answer.
// Imported only where the model has this feature.

import config from './config.js'

var { request, response } = config.features['header-rewrite']

export function wrap(next, { route }) {
  if (!route) return next
  return $ => rewrite(next(rewrite($, request)), response)
}

// Loops whose ends are known: a call costs as much as three rounds of one, and so does the length of an array.
function rewrite($, { set, remove }) {
  var names = Object.keys(set)
  var values = Object.values(set)
  var setCount = names.length
  var removeCount = remove.length
  return $.handleMessageStart(
    function (start) {
      var headers = start.head.headers
      for (var i = 0; i < removeCount; i++) delete headers[remove[i]]
      for (var i = 0; i < setCount; i++) headers[names[i]] = values[i]
    }
  )
}
