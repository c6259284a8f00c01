// Answers what it got: the body, and the nonce header where there was one.
//   pipy echo.js --args 127.0.0.1:8080,127.0.0.1:8081

var addresses = pipy.argv.find(a => a.indexOf(':') > 0).split(',')

addresses.forEach(
  address => pipy.listen(address, $=>$
    .serveHTTP(
      function (request) {
        var nonce = request.head.headers['x-nonce']
        return new Message({ headers: nonce ? { 'x-nonce': nonce } : {} }, request.body)
      }
    )
  )
)
