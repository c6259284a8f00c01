// @ts-nocheck: a Pipy script
// How many requests to a cluster may be tried again at a time: a share of those under way, and always a few.
// Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

export function createBudget({ share, minConcurrent }) {
  // Fields, so that a filter's function counts a request without a call.
  var counts = { requests: 0, retries: 0 }

  // Whether one more may be tried again, and then it is.
  function take() {
    if (counts.retries >= Math.max(minConcurrent, Math.floor(share * counts.requests))) return false
    counts.retries++
    return true
  }

  return { counts, take }
}
