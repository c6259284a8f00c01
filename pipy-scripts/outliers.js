// @ts-nocheck: a Pipy script
// Which endpoints of a cluster are ejected: each after so many failures in a row, for a time, and never more of them
// than a share. Pure, and written in the JavaScript that Pipy and Node share, so that it is unit-tested in Node.

// endpoints: objects of the cluster's own, where it notes failures. Times are in ms. Gives
//   note: (endpoint, status, nowMs) => whether the endpoint is ejected by this answer;
//   restore: nowMs => brings back those whose time is over;
//   listServing: () => the endpoints that are not ejected;
//   findNextReturn: () => when the first comes back.
export function createOutliers(endpoints, { consecutiveFailures, baseSeconds, maxShare }) {
  var most = Math.floor(endpoints.length * maxShare)
  endpoints.forEach(
    function (endpoint) {
      endpoint.failures = 0
      endpoint.returnMs = 0
    }
  )
  var listServing = () => endpoints.filter(e => e.returnMs === 0)
  var listEjected = () => endpoints.filter(e => e.returnMs > 0)

  function note(endpoint, status, nowMs) {
    if (status < 500) {
      endpoint.failures = 0
      return false
    }
    endpoint.failures = endpoint.failures + 1
    if (endpoint.failures < consecutiveFailures) return false
    endpoint.failures = 0
    // What it answers to requests of before its ejection says nothing more.
    if (endpoint.returnMs > 0 || listEjected().length >= most) return false
    endpoint.returnMs = nowMs + baseSeconds * 1000
    return true
  }

  function restore(nowMs) {
    listEjected().forEach(
      function (endpoint) {
        if (endpoint.returnMs > nowMs) return
        endpoint.returnMs = 0
        endpoint.failures = 0
      }
    )
  }

  function findNextReturn() {
    return listEjected().reduce((first, e) => e.returnMs < first ? e.returnMs : first, Infinity)
  }

  return { note, restore, listServing, findNextReturn }
}
