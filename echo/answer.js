// Answers each kind of request with a body of its size, after its service time. The body begins with the nonce of the request.
//   pipy answer.js --args 127.0.0.1:8080 '[{"method":"GET","path":"/","requestBytes":0,"responseBytes":1024,"waitMs":30}]'
// A request of no such kind is answered 404, and one with a body of another size 400.

var args = pipy.argv.slice(pipy.argv.findIndex(a => a.indexOf(':') > 0))
var kinds = {}
JSON.parse(args[1]).forEach(
  function (kind) {
    kinds[kind.method + ' ' + kind.path] = kind
    kind.body = 'x'.repeat(kind.responseBytes)
  }
)

function createAnswer(kind, nonce, waited) {
  var headers = {}
  if (nonce) headers['x-nonce'] = nonce
  // The time that was drawn, and how much later this is.
  if (waited) headers['x-waited'] = waited
  return new Message({ headers: headers }, nonce ? (nonce + kind.body).substring(0, kind.responseBytes) : kind.body)
}

function drawMs(kind) {
  return kind.isExponential ? -kind.waitMs * Math.log(1 - Math.random()) : kind.waitMs
}

pipy.listen(args[0], $=>$
  .serveHTTP(
    function (request) {
      var kind = kinds[request.head.method + ' ' + request.head.path]
      var nonce = request.head.headers['x-nonce']
      if (!kind) return new Message({ status: 404 }, 'no such kind of request')
      if ((request.body ? request.body.size : 0) !== kind.requestBytes) return new Message({ status: 400 }, 'the body has another size')
      if (!kind.waitMs) return createAnswer(kind, nonce)
      var beganMs = pipy.now()
      var ms = drawMs(kind)
      return new Timeout(ms / 1000).wait().then(
        () => createAnswer(kind, nonce, ms.toFixed(3) + ' ' + (pipy.now() - beganMs - ms).toFixed(3))
      )
    }
  )
)
