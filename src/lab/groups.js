import { groupBy } from '../lib/group-by.js'
import { sumSelf } from './profile.js'

/**
 * Names Pipy's functions in the words of a script's author. Pure.
 * @import { Stack } from './profile.js'
 */

/** Purposes by a function's own name; library code works for its caller. @type {[group: string, pattern: RegExp][]} */
const GROUPS = [
  // Only perf sees the kernel.
  ['kernel', /_\[k\]$/],
  [
    'memory',
    /^(_int_)?(malloc|free|calloc|realloc|memalign)|^cfree$|^operator (new|delete)|^tcache_|^unlink_chunk|^sysmalloc|^pjs::Pool|^pipy::Data::(Chunk|View)/,
  ],
  ['copying and comparing', /^_*mem(cpy|move|set|cmp|chr)|^_*str(len|cmp|ncmp|chr|cpy)|^bcmp/],
  ['HTTP decode and encode', /^pipy::http2?::/],
  // Pipy contains OpenSSL beside other C libraries (yajl, zlib, SQLite): these are OpenSSL's prefixes.
  [
    'TLS',
    /^pipy::(tls|crypto)::|^(?!__tls_)_*(ossl|evp|ssl|d?tls|bio|crypto|openssl|w?packet|err|buf_mem|aes|aesni|gcm|ghash|sha|keccak|md5|chacha|poly|hmac|kdf|hkdf|rand|drbg|bn|ecp?|ecx|ecdsa|ecdh|x25519|ed|rsaz?|dh|dsa|pkey|asn1|x509v?|pem|obj|[di]2[di]|cipher|provider|ocsp|pkcs|lh|sk|statem)\d*_/i,
  ],
  ['script interpreter', /^pjs::/],
  [
    'event loop and sockets',
    /^asio::|^pipy::(Net|SocketTCP|SocketStream|InboundTCP|OutboundTCP|Inbound|Outbound|Listener|Ticker|Timer|FlushTarget|InputContext)\b|^_*(libc_)?(epoll_|recv|send|read|write|accept|connect|close|clock_|pthread_|gettimeofday|vdso)/,
  ],
  ['filters and pipelines', /^pipy::/],
]
const OTHER = 'other'

/** Names the purpose that the innermost known function serves. @param {Pick<Stack, 'frames'>} stack */
export function groupOf({ frames }) {
  for (const frame of frames) {
    const group = GROUPS.find(([, pattern]) => pattern.test(frame))?.[0]
    if (group) return group
  }
  return OTHER
}

/** Filters as scripts name them. @type {Record<string, string>} */
const FILTERS = {
  'http::Demux': 'demuxHTTP',
  'http::Mux': 'muxHTTP',
  Demux: 'demuxHTTP',
  DemuxQueue: 'demuxHTTP',
  Mux: 'muxHTTP',
  MuxBase: 'muxHTTP',
  MuxQueue: 'muxHTTP',
  MuxSession: 'muxHTTP',
  MuxSource: 'muxHTTP',
  'tls::Server': 'acceptTLS',
  'tls::Client': 'connectTLS',
  Connect: 'connect',
  OutboundTCP: 'connect',
  InboundTCP: 'listen',
  Pipe: 'pipe',
  PipeNext: 'pipe',
  Repeat: 'repeat',
  Replay: 'replay',
  ProtocolDetector: 'detectProtocol',
  Handle: 'handle…',
  OnEvent: 'on…',
  OnMessage: 'on…',
  OnBody: 'on…',
  OnStart: 'onStart',
  ReplaceEvent: 'replace…',
  ReplaceStart: 'replaceStart',
  Replace: 'replace…',
  ReplaceMessage: 'replaceMessage',
  ReplaceBody: 'replaceBody',
  Print: 'print',
  Dump: 'dump',
  Link: 'link',
  Fork: 'fork',
  Branch: 'branch',
  BranchBase: 'branch',
  Deposit: 'deposit',
  ThrottleBase: 'throttle…',
  Wait: 'wait',
  Produce: 'produce',
  Tee: 'tee',
}
const FILTER = /^pipy::((?:http2?::|tls::)?\w+)::/

/** Names the innermost filter of a stack. @param {Pick<Stack, 'frames'>} stack */
export function filterOf(stack) {
  return cutAtFilter(stack).filter
}

/**
 * Cuts a stack at its innermost filter, because filters call each other many times for one event.
 * @param {Pick<Stack, 'frames'>} stack
 * @returns {{ filter: string, frames: string[] }} frames: the innermost first
 */
export function cutAtFilter({ frames }) {
  const names = frames.map(frame => FILTERS[FILTER.exec(frame)?.[1] ?? ''])
  const at = names.findIndex(name => name !== undefined)
  return at === -1 ? { filter: OTHER, frames } : { filter: names[at], frames: frames.slice(0, at + 1) }
}

/** Sums costs by a name, dearest first. @param {Stack[]} stacks @param {(stack: Stack) => string} nameOf */
export function sumBy(stacks, nameOf) {
  const sums = [...groupBy(stacks, nameOf)].map(([name, own]) => /** @type {const} */ ([name, sumSelf(own)]))
  return new Map(sums.sort(([, a], [, b]) => b - a))
}

/** Sums the cost of each function with its callees, once a stack. @param {Stack[]} stacks */
export function sumInclusive(stacks) {
  /** @type {Map<string, number>} */
  const sums = new Map()
  for (const { frames, self } of stacks)
    for (const frame of new Set(frames)) sums.set(frame, (sums.get(frame) ?? 0) + self)
  return sums
}
