// Requests of pipelines that answer something else than the body that was posted. Run by k6, never imported by src/.
import http from 'k6/http'

const REQUESTS = __ENV.OWN_REQUESTS ? JSON.parse(__ENV.OWN_REQUESTS) : []

// The function by which a user sends the request of an arm, by its place; null: its load is the kit's own POST. An answer
// with the status and the length that the first one had counts as the body that was sent, as loops compare it.
export function createRequest(arm, url) {
  const request = REQUESTS[arm]
  if (!request) return null
  const { method, body, status, bytes } = request
  const host = __ENV.HOST ? { Host: __ENV.HOST } : {}
  const options = {
    headers: { ...host, ...request.headers },
    responseCallback: http.expectedStatuses(status),
    // A text has fewer characters than bytes.
    responseType: 'binary',
  }
  return sent => {
    const { status: answered, body: answer, error, timings } = http.request(method, url, body || null, options)
    const length = answer === null ? 0 : answer.byteLength
    if (answered === status && length === bytes) return { status: 200, body: sent, timings }
    return { status: answered, body: null, error: error || `${length} bytes, ${bytes} are expected`, timings }
  }
}
