-- Closed loop: every user posts, waits for the answer and posts again, through warm-up, window and tail. With ARMS, in
-- turns: each thread has the users of one arm, and they send only while it is the turn of their arm.
-- Run by wrk: setup and done in a Lua state of their own, the other functions in one for each thread.
local bit, ffi = require('bit'), require('ffi')

ffi.cdef [[
  struct timespec { long seconds; long nanos; };
  int clock_gettime(int clock, struct timespec *time);
  int sem_init(void *semaphore, int is_shared, unsigned int value);
  int sem_post(void *semaphore);
  int sem_getvalue(void *semaphore, int *value);
  int getpid(void);
  int kill(int pid, int signal);
]]

local REALTIME, MONOTONIC, SIGINT = 0, 1, 2
local NONCE_EVERY = 50
local WARM_AFTER = 3
local MESSAGES_MOST = 5
-- Of a thread: with so much lost it gives up, for each replaced user keeps its payload.
local LOST_BYTES_MOST = 32 * 2 ^ 20

local time = ffi.new('struct timespec')
local function readMicros(clock)
  ffi.C.clock_gettime(clock, time)
  return tonumber(time.seconds) * 1e6 + tonumber(time.nanos) / 1e3
end

-- Response times are counted by the exponent and the first nine bits of the mantissa: classes 0.2 % wide.
local double = ffi.new('union { double value; uint32_t words[2]; }')
local HIGH = ffi.abi('le') and 1 or 0
local function classOf(micros)
  double.value = micros
  return bit.rshift(double.words[HIGH], 11)
end

-- Of arms in turn: the address and the payload of each, whose turn it is in each slice, and how long a slice takes.
local ARMS, PAYLOADS, ORDER = os.getenv('ARMS'), os.getenv('PAYLOADS'), os.getenv('ORDER')
local SLICE_MS = tonumber(os.getenv('SLICE_MS'))

-- Of requests that are answered, not echoed: of each arm, method, path, headers and body bytes, parted by semicolons.
local METHODS, PATHS, HEADERS = os.getenv('METHODS'), os.getenv('PATHS'), os.getenv('HEADERS')
local REQUEST_BYTES = os.getenv('REQUEST_BYTES')

-- The window is agreed in epoch milliseconds, for all threads alike.
local threads, beganMs, ended = {}, nil, ffi.new('char[64]')
function setup(thread)
  if beganMs == nil then
    -- At a round tenth of a second, when processes are read, too.
    beganMs = 100 * math.ceil(readMicros(REALTIME) / 1e5)
    ffi.C.sem_init(ended, 0, 0)
  end
  thread:set('number', #threads)
  local index = 0
  for host, port in (ARMS or ''):gmatch('([%d.]+):(%d+)') do
    if index == #threads then thread.addr = wrk.lookup(host, port)[1] end
    index = index + 1
  end
  thread:set('commonBeganMs', beganMs)
  thread:set('commonEnded', tonumber(ffi.cast('intptr_t', ended)))
  table.insert(threads, thread)
end

-- Phases: 1 is the warm-up, 2 and 3 the halves of the window, 4 the tail, and in 5 users rest. A request belongs to
-- the phase in which it starts.
local right, failed, messages = { 0, 0, 0, 0, 0 }, { 0, 0, 0, 0, 0 }, {}
local corrupted, rested, sumMicros, classes, warmed = 0, 0, 0, {}, {}
local edges, users, threadCount, payloadBytes, filler, beganText, firstNumber
local isAsked = false
local phase = 1
local startMs, windowMs, warmupMs, perTenth = 0, 0, 0, {}
local function enterPhase(now)
  while phase < 5 and now >= edges[phase] do phase = phase + 1 end
end

-- wrk does not say on which connection it writes or reads. A user is a number that is in the payload, comes back with
-- the answer, and then waits in a ring for its next request. wrk writes to connections in the order in which they were
-- answered, so a user stays with its connection.
local ring, first, waiting, issued, unclear = {}, 0, 0, 0, 0
local posts, plainBodies, userOf = {}, {}, {}
local sent, expected, startedAt, phaseOf = {}, {}, {}, {}

-- Method, path, headers and body of this thread's requests; a nil method: a POST that is echoed.
local method, path, headers, requestBody = nil, nil, {}, nil

-- The part of a list that is parted by semicolons, counted from 0.
local function partOf(text, place)
  for part in (text .. ';'):gmatch('([^;]*);') do
    if place == 0 then return part end
    place = place - 1
  end
end

local function readRequests(place)
  if not METHODS then return end
  method, path = partOf(METHODS, place), partOf(PATHS, place)
  for name, value in partOf(HEADERS, place):gmatch('([^=,]+)=([^,]*)') do headers[name] = value end
  for name, value in pairs(wrk.headers) do headers[name] = value end
  local bytes = tonumber(partOf(REQUEST_BYTES, place))
  if bytes > 0 or method == 'POST' or method == 'PUT' or method == 'PATCH' then requestBody = ('x'):rep(bytes) end
end

-- The nonce begins the answer, which is the body that is sent where the application echoes.
local function formatRequest(nonce, answer)
  if not method then return wrk.format('POST', nil, nil, answer) end
  headers['x-nonce'] = nonce
  return wrk.format(method, path, headers, requestBody)
end

-- Service times that the application drew in the window, and how much later it answered, by 0.05 ms.
local waitedCount, waitedSumMs, lateCounts = 0, 0, {}
local function addWaited(text)
  local drawn, late = text:match('^([%d.]+) (-?[%d.]+)$')
  if not drawn then return end
  waitedCount, waitedSumMs = waitedCount + 1, waitedSumMs + tonumber(drawn)
  local class = math.floor(tonumber(late) * 20 + 0.5)
  lateCounts[class] = (lateCounts[class] or 0) + 1
end

local function fail(message)
  failed[phase] = failed[phase] + 1
  for _, known in ipairs(messages) do
    if known == message then return end
  end
  if #messages < MESSAGES_MOST then table.insert(messages, message) end
end

local function issueUser()
  issued = issued + 1
  -- A connection without a user: its answer was a wrong one, and counted, or it broke.
  if issued > users then
    if unclear > 0 then unclear = unclear - 1 else fail('a connection broke before its answer') end
  end
  local nonce = string.format('%08d', firstNumber + issued)
  local body = (nonce .. filler):sub(1, payloadBytes)
  plainBodies[issued], posts[issued], userOf[body] = body, formatRequest(nonce, body), issued
  sent[issued], warmed[issued] = 0, 0
  return issued
end

local function takeUser()
  if waiting == 0 then return issueUser() end
  local user = ring[first]
  first = (first + 1) % users
  waiting = waiting - 1
  return user
end

local function returnUser(user)
  ring[(first + waiting) % users] = user
  waiting = waiting + 1
end

-- An empty request: the connection stays, and nothing more is sent. The last user of the last thread ends wrk, whose
-- main thread sleeps until then, or for as long as a request in flight may take.
local function rest()
  if waiting > 0 then
    takeUser()
  elseif unclear > 0 then
    unclear = unclear - 1
  else
    -- It was closed while it rested, or broke before its last answer.
    return ''
  end
  rested = rested + 1
  if rested == users then
    local semaphore, value = ffi.cast('void *', commonEnded), ffi.new('int[1]')
    ffi.C.sem_post(semaphore)
    ffi.C.sem_getvalue(semaphore, value)
    if value[0] >= threadCount then ffi.C.kill(ffi.C.getpid(), SIGINT) end
  end
  return ''
end

function init(args)
  local given = {}
  for _, text in ipairs(args) do
    local name, value = text:match('^(%w+)=(%d+)$')
    given[name] = tonumber(value)
  end
  users, threadCount, payloadBytes = given.users, given.threads, given.payloadBytes
  if ARMS then
    local sizes = {}
    for bytes in PAYLOADS:gmatch('%d+') do table.insert(sizes, tonumber(bytes)) end
    payloadBytes = sizes[number + 1]
  end
  filler = ('x'):rep(payloadBytes)
  readRequests(ARMS and number or 0)
  firstNumber = number * 1e6
  beganText = string.format('-%.0f-', commonBeganMs)
  startMs, windowMs, warmupMs = commonBeganMs + given.warmupMs, given.windowMs, given.warmupMs
  local endMs = startMs + given.windowMs
  local epochToMonotonic = readMicros(MONOTONIC) - readMicros(REALTIME)
  edges = {}
  for i, ms in ipairs({ startMs, (startMs + endMs) / 2, endMs, endMs + given.tailMs }) do
    edges[i] = ms * 1e3 + epochToMonotonic
  end
  if number == 0 then
    io.stdout:write(string.format('window %.0f %.0f\n', startMs, endMs))
    io.stdout:flush()
  end
end

local function armOf(slice)
  return tonumber(ORDER:sub(slice % #ORDER + 1, slice % #ORDER + 1))
end

-- The milliseconds until it is the turn of the arm of this thread. wrk asks before each request, where this function is.
if ARMS then
  function delay()
    local ms = readMicros(REALTIME) / 1e3 - commonBeganMs
    if ms < 0 or phase == 5 then return 0 end
    local slice = math.floor(ms / SLICE_MS)
    if armOf(slice) == number then return 0 end
    local next = slice + 1
    while armOf(next) ~= number do next = next + 1 end
    return math.ceil(next * SLICE_MS - ms)
  end
end

-- The milliseconds of the window in which it was the turn of the arm of this thread.
local function countOwnMs()
  if not ARMS then return windowMs end
  local sum, ms = 0, warmupMs
  while ms < warmupMs + windowMs do
    local slice = math.floor(ms / SLICE_MS)
    local till = math.min((slice + 1) * SLICE_MS, warmupMs + windowMs)
    if armOf(slice) == number then sum = sum + till - ms end
    ms = till
  end
  return sum
end

function request()
  -- wrk asks the first thread for one request that it does not send.
  if number == 0 and not isAsked then
    isAsked = true
    return formatRequest('first', filler)
  end
  local now = readMicros(MONOTONIC)
  enterPhase(now)
  if phase == 5 then return rest() end
  if waiting == 0 and (issued - users) * payloadBytes > LOST_BYTES_MOST then return '' end
  local user = takeUser()
  local count = sent[user]
  sent[user], startedAt[user], phaseOf[user] = count + 1, now, phase
  if count % NONCE_EVERY > 0 then
    expected[user] = plainBodies[user]
    return posts[user]
  end
  local nonce = string.format('%08d-%d', firstNumber + user, count) .. beganText
  local body = (nonce .. filler):sub(1, payloadBytes)
  expected[user], userOf[body] = body, user
  return formatRequest(nonce, body)
end

-- Every answer must be the payload of a request that is on its way, byte by byte.
function response(status, answered, body)
  local now = readMicros(MONOTONIC)
  enterPhase(now)
  local user = userOf[body]
  if user == nil or expected[user] ~= body then
    if status == 200 and #body == payloadBytes then corrupted = corrupted + 1 end
    unclear = unclear + 1
    return fail(string.format('status %d, %d bytes', status, #body))
  end
  if body ~= plainBodies[user] then userOf[body] = nil end
  expected[user] = nil
  returnUser(user)
  if status ~= 200 then return fail(string.format('status %d, %d bytes', status, #body)) end
  local started = phaseOf[user]
  right[started] = right[started] + 1
  if started == 1 then warmed[user] = warmed[user] + 1 end
  if started == 2 or started == 3 then
    local micros = now - startedAt[user]
    local class = classOf(micros)
    sumMicros = sumMicros + micros
    local tenth = math.floor((startedAt[user] - edges[1]) / 1e5)
    perTenth[tenth] = (perTenth[tenth] or 0) + 1
    local waited = method and (answered['x-waited'] or answered['X-Waited'])
    if waited then addWaited(waited) end
    classes[class] = (classes[class] or 0) + 1
  end
end

-- In the middle of its class.
local function microsOf(class)
  double.words[HIGH], double.words[1 - HIGH] = bit.lshift(class, 11) + 1024, 0
  return double.value
end

local function renderReport()
  local warm, said, counted = 0, {}, {}
  for _, count in ipairs(warmed) do
    if count >= WARM_AFTER then warm = warm + 1 end
  end
  for _, message in ipairs(messages) do table.insert(said, string.format('%q', message)) end
  for class, count in pairs(classes) do table.insert(counted, string.format('[%.5g,%d]', microsOf(class), count)) end
  local tenths = {}
  for tenth = 0, math.ceil(windowMs / 100) - 1 do table.insert(tenths, perTenth[tenth] or 0) end
  local lates = {}
  for class, count in pairs(lateCounts) do table.insert(lates, string.format('[%.2f,%d]', class / 20, count)) end
  local waited = waitedCount > 0
      and string.format(',"waited":{"count":%d,"sumMs":%.3f,"late":[%s]}', waitedCount, waitedSumMs, table.concat(lates, ','))
    or ''
  local turns = ARMS and string.format(',"arm":%d,"ownMs":%.0f,"perTenth":[%s]', number, countOwnMs(), table.concat(tenths, ',')) or ''
  return string.format(
    '{"right":[%s],"failed":[%s],"corrupted":%d,"users":%d,"warmUsers":%d,"restedUsers":%d,"sumMicros":%.0f,"messages":[%s],"classes":[%s]%s%s}',
    table.concat(right, ','), table.concat(failed, ','), corrupted, users, warm, rested, sumMicros,
    table.concat(said, ','), table.concat(counted, ','), turns, waited
  )
end

-- wrk asks a thread's state for a global, and copies no tables: this one is made when it is asked for.
setmetatable(_G, { __index = function(_, name) return name == 'report' and renderReport() or nil end })

-- A line for each thread, as the log is all that a pod leaves behind.
function done()
  for _, thread in ipairs(threads) do print(thread:get('report')) end
end
