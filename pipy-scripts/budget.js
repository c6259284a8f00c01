// @ts-nocheck: a Pipy script
// How many requests to a cluster may be tried again at a time: a share of those under way, and always a few.
// Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

export function createBudget({ share, minConcurrent }) {
  var requests = 0
  var retries = 0

  function begin() {
    requests = requests + 1
  }

  function end(isRetried) {
    requests = requests - 1
    if (isRetried) retries = retries - 1
  }

  // Whether one more may be tried again, and then it is.
  function take() {
    if (retries >= Math.max(minConcurrent, Math.floor(share * requests))) return false
    retries = retries + 1
    return true
  }

  return { begin, end, take }
}
