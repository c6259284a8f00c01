// Calls the next service for every request and answers what that answered.
//   pipy forward.js --args 127.0.0.1:8080 127.0.0.1:15001 ratings
// The second address is its sidecar's outbound listener, or the next service itself; the last is the Host.

var args = pipy.argv.slice(pipy.argv.findIndex(a => a.indexOf(':') > 0))

pipy.listen(args[0], $=>$
  .demuxHTTP({ bufferSize: 16384 }).to($=>$
    .handleMessageStart(
      function (start) {
        start.head.headers.host = args[2]
      }
    )
    .muxHTTP(() => args[1], { bufferSize: 16384, maxQueue: 1 }).to($=>$
      .connect(args[1])
    )
  )
)
