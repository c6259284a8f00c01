-- A constant POST, so that wrk does not enter Lua for any request.
wrk.method = 'POST'
wrk.body = ('x'):rep(tonumber(os.getenv('PAYLOAD_BYTES')))
