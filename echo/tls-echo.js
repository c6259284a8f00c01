// Answers what it got over TLS: the body, and the nonce header where there was one.
//   pipy tls-echo.js --args 127.0.0.1:8080,127.0.0.1:8081 cert.pem key.pem

var args = pipy.argv.slice(pipy.argv.findIndex(a => a.indexOf(':') > 0))
var certificate = {
  cert: new crypto.CertificateChain(os.read(args[1])),
  key: new crypto.PrivateKey(os.read(args[2])),
}

args[0].split(',').forEach(
  address => pipy.listen(address, $=>$
    .acceptTLS({ certificate }).to($=>$
      .serveHTTP(
        function (request) {
          var nonce = request.head.headers['x-nonce']
          return new Message({ headers: nonce ? { 'x-nonce': nonce } : {} }, request.body)
        }
      )
    )
  )
)
