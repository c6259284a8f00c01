// Requests that are answered, not echoed: the kinds of each arm. Run by k6, never imported by src/.
import http from 'k6/http'
import { Counter, Trend } from 'k6/metrics'

const { request } = http

// The kinds of requests of each arm, with their weights; null: all post and are echoed.
export const ANSWERED = __ENV.REQUESTS ? JSON.parse(__ENV.REQUESTS) : null
const filler = ANSWERED === null ? '' : 'x'.repeat(Math.max(...ANSWERED.flat().map(kind => kind.responseBytes)))

// Service times that the application drew, and how much later it answered, in the window.
const createTrends = place => ({ waited: new Trend(`waited_${place}`, true), late: new Trend(`late_${place}`, true) })
const trends = ANSWERED === null ? [] : ANSWERED.map((_, place) => createTrends(place))

// Requests of each kind in the window, of a mix.
const counters =
  ANSWERED === null ? [] : ANSWERED.map((kinds, arm) => kinds.map((_, i) => new Counter(`kind_${arm}_${i}`)))

// Creates what sends the requests of a user to one arm. `expected` is the body that the last answer should have had.
export function createAsker({ url, call, host, place }) {
  const kinds = ANSWERED[place].map((kind, i) => createKind(kind, { url, host, isCall: call !== null, place: i }))
  const choose = createChooser(kinds)
  const { waited, late } = trends[place]
  const sent = kinds.length > 1 ? counters[place] : null
  return {
    expected: '',
    // A request of the first kind, for a batch.
    describe: () => [kinds[0].method, kinds[0].url, kinds[0].body, kinds[0].params],
    // nth: of all requests of the load; absent: they are counted for this user.
    ask(nonce, isInWindow, nth) {
      const kind = choose(nth)
      if (sent !== null && isInWindow) sent[kind.place].add(1)
      const params = nonce === '' ? kind.params : kind.createParams(nonce)
      const response = call === null ? request(kind.method, kind.url, kind.body, params) : call(kind.body, params)
      // A nonce that did not come back is a wrong answer, whatever the body is.
      const isSame = nonce === '' || readHeader(response, 'x-nonce') === nonce
      const body = nonce === '' ? kind.answer : (nonce + filler).slice(0, kind.answer.length)
      // k6 may have null for an empty body, which is one only where the request did not fail.
      const isEmpty = body === '' && !response.body && response.status === 200
      this.expected = !isSame ? undefined : isEmpty ? response.body : body
      if (kind.isTimed && isInWindow) addWaited(readHeader(response, 'x-waited'))
      return response
    },
  }

  function addWaited(text) {
    const [drawnMs, lateMs] = `${text}`.split(' ').map(Number)
    if (!(drawnMs >= 0)) return
    waited.add(drawnMs)
    late.add(lateMs)
  }
}

function createKind(
  { method, path, requestBytes, responseBytes, headers, weight, isTimed },
  { url, host, isCall, place },
) {
  const allHeaders = isCall ? headers : { ...(host ? { Host: host } : {}), ...headers }
  const createParams = more =>
    isCall ? { metadata: { ...allHeaders, ...more } } : { headers: { ...allHeaders, ...more } }
  return {
    method,
    url: url.replace(/\/$/, path),
    body: requestBytes > 0 || isCall ? 'x'.repeat(requestBytes) : null,
    answer: filler.slice(0, responseBytes),
    params: createParams({}),
    createParams: nonce => createParams({ 'x-nonce': nonce }),
    weight,
    isTimed,
    place,
  }
}

// k6 writes names of headers as Go does; those of a call have lists of values.
function readHeader({ headers }, name) {
  if (!headers) return undefined
  const value = headers[name] || headers[name.replace(/(^|-)[a-z]/g, text => text.toUpperCase())]
  return Array.isArray(value) ? value[0] : value
}

// Parts of the golden ratio and of its like for two dimensions (R2, M. Roberts): their multiples spread evenly over 0 to 1.
const STEP = 0.6180339887498949
const OFFSET = 0.7548776662466927

// Chooses the kind of the nth request: any number of requests in a row has the mix, as nearly as it can. Users that count
// for themselves begin at places that are spread, too.
function createChooser(kinds) {
  if (kinds.length === 1) return () => kinds[0]
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0)
  const ends = []
  for (const { weight } of kinds) ends.push((ends[ends.length - 1] || 0) + weight / total)
  let chosen = 0
  return nth => {
    const at = nth === undefined ? (__VU * OFFSET + chosen++ * STEP) % 1 : (nth * STEP) % 1
    for (let i = 0; i < ends.length - 1; i++) if (at < ends[i]) return kinds[i]
    return kinds[kinds.length - 1]
  }
}

// The counts of kinds in what k6 summarises, of one arm.
export function listKindMetrics(all, place) {
  const metrics = {}
  if (ANSWERED !== null && ANSWERED[place].length > 1)
    for (let i = 0; i < ANSWERED[place].length; i++) metrics[`kind_${i}`] = all[`kind_${place}_${i}`] || { count: 0 }
  return metrics
}
