// Answers as echo.js does, and says its own name in the header x-served-by.
//   pipy named.js --args 127.0.0.1:8080 NAME

var args = pipy.argv.slice(pipy.argv.findIndex(a => a.indexOf(':') > 0))

pipy.listen(args[0], $=>$
  .serveHTTP(
    function (request) {
      var nonce = request.head.headers['x-nonce']
      return new Message({ headers: { 'x-served-by': args[1], 'x-nonce': nonce || '' } }, request.body)
    }
  )
)
