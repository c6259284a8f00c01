// Requests that are answered, not echoed: the kinds of each arm. Run by k6, never imported by src/.
import http from 'k6/http'
import { Trend } from 'k6/metrics'

const { request } = http

// Of each arm, its kinds with their weights; null: all post and are echoed.
export const ANSWERED = __ENV.REQUESTS ? JSON.parse(__ENV.REQUESTS) : null
const filler = ANSWERED === null ? '' : 'x'.repeat(Math.max(...ANSWERED.flat().map(kind => kind.responseBytes)))

// Service times that the application drew, and how much later it answered, in the window.
const trendsOf = place => ({ waited: new Trend(`waited_${place}`, true), late: new Trend(`late_${place}`, true) })
const trends = ANSWERED === null ? [] : ANSWERED.map((_, place) => trendsOf(place))

// Creates what sends the requests of a user to one arm. `expected` is the body that the last answer should have had.
export function createAsker({ url, call, host, place }) {
  const kinds = ANSWERED[place].map(kind => createKind(kind, { url, host, isCall: call !== null }))
  const choose = createChooser(kinds)
  const { waited, late } = trends[place]
  return {
    expected: '',
    // A request of the first kind, for a batch.
    describe: () => [kinds[0].method, kinds[0].url, kinds[0].body, kinds[0].params],
    ask(nonce, isInWindow) {
      const kind = choose()
      const params = nonce === '' ? kind.params : kind.createParams(nonce)
      const response = call === null ? request(kind.method, kind.url, kind.body, params) : call(kind.body, params)
      // A nonce that did not come back is a wrong answer, whatever the body is.
      const isSame = nonce === '' || readHeader(response, 'x-nonce') === nonce
      const body = nonce === '' ? kind.answer : (nonce + filler).slice(0, kind.answer.length)
      this.expected = !isSame ? undefined : body === '' ? response.body : body
      if (body === '' && response.body) this.expected = ''
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

function createKind({ method, path, requestBytes, responseBytes, headers, weight, isTimed }, { url, host, isCall }) {
  const given = isCall ? headers : { ...(host ? { Host: host } : {}), ...headers }
  const createParams = more => (isCall ? { metadata: { ...given, ...more } } : { headers: { ...given, ...more } })
  return {
    method,
    url: url.replace(/\/$/, path),
    body: requestBytes > 0 || isCall ? 'x'.repeat(requestBytes) : null,
    answer: filler.slice(0, responseBytes),
    params: createParams({}),
    createParams: nonce => createParams({ 'x-nonce': nonce }),
    weight,
    isTimed,
  }
}

// k6 writes names of headers as Go does; those of a call have lists of values.
function readHeader({ headers }, name) {
  if (!headers) return undefined
  const value = headers[name] || headers[name.replace(/(^|-)[a-z]/g, text => text.toUpperCase())]
  return Array.isArray(value) ? value[0] : value
}

// Chooses kinds by smooth weighted round robin: any number of requests has the mix, as nearly as it can.
function createChooser(kinds) {
  if (kinds.length === 1) return () => kinds[0]
  const total = kinds.reduce((sum, { weight }) => sum + weight, 0)
  const credits = kinds.map(() => 0)
  const choose = () => {
    let best = 0
    for (let i = 0; i < kinds.length; i++) {
      credits[i] += kinds[i].weight
      if (credits[i] > credits[best]) best = i
    }
    credits[best] -= total
    return kinds[best]
  }
  // Users begin at other places of the order.
  for (let i = 0; i < __VU % 100; i++) choose()
  return choose
}
