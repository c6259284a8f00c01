// The shortest k6 script that posts one URL. What ours delivers is held against it.
import http from 'k6/http'

const body = 'x'.repeat(Number(__ENV.PAYLOAD_BYTES))

export default function () {
  http.post(__ENV.URL, body)
}
