// Answers what it got: the body, and the nonce header where there was one.
//   pipy echo.js --args 127.0.0.1:8080

var address = pipy.argv.find(a => a.indexOf(':') > 0)

pipy.listen(address, $=>$
  .serveHTTP(
    function (request) {
      var nonce = request.head.headers['x-nonce']
      return new Message({ headers: nonce ? { 'x-nonce': nonce } : {} }, request.body)
    }
  )
)
