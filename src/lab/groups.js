import { groupBy } from '../lib/group-by.js'

/**
 * The functions of Pipy in the words of a script's author. Pure.
 * @import { Stack } from './profile.js'
 */

/**
 * The purpose of a function, by its own name; library code works for who called it.
 * @type {[group: string, pattern: RegExp][]}
 */
const GROUPS = [
  // perf alone sees it.
  ['kernel', /_\[k\]$/],
  [
    'memory',
    /^(_int_)?(malloc|free|calloc|realloc|memalign)|^cfree$|^operator (new|delete)|^tcache_|^unlink_chunk|^sysmalloc|^pjs::Pool|^pipy::Data::(Chunk|View)/,
  ],
  ['copying and comparing', /^_*mem(cpy|move|set|cmp|chr)|^_*str(len|cmp|ncmp|chr|cpy)|^bcmp/],
  ['HTTP decode and encode', /^pipy::http2?::/],
  // OpenSSL is part of Pipy, as other C libraries are (yajl, zlib, SQLite): its own names begin so.
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
export const OTHER = 'other'

/** @param {Pick<Stack, 'frames'>} stack @returns {string} */
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

/** The filter that a stack works in: the innermost one on it. @param {Pick<Stack, 'frames'>} stack */
export function filterOf(stack) {
  return cutAtFilter(stack).filter
}

/**
 * A filter, and the functions that work for it: filters call each other many times over for one event.
 * @param {Pick<Stack, 'frames'>} stack
 * @returns {{ filter: string, frames: string[] }} frames: the innermost first
 */
export function cutAtFilter({ frames }) {
  const names = frames.map(frame => FILTERS[FILTER.exec(frame)?.[1] ?? ''])
  const at = names.findIndex(name => name !== undefined)
  return at === -1 ? { filter: OTHER, frames } : { filter: names[at], frames: frames.slice(0, at + 1) }
}

/**
 * Instructions by a name of each stack, the dearest first.
 * @param {Stack[]} stacks
 * @param {(stack: Stack) => string} nameOf
 * @returns {Map<string, number>}
 */
export function sumBy(stacks, nameOf) {
  const sums = [...groupBy(stacks, nameOf)].map(
    ([name, own]) => /** @type {[string, number]} */ ([name, own.reduce((sum, { self }) => sum + self, 0)]),
  )
  return new Map(sums.sort(([, a], [, b]) => b - a))
}

/**
 * The cost of functions and their callees, each counted once a stack.
 * @param {Stack[]} stacks
 * @returns {Map<string, number>}
 */
export function sumInclusive(stacks) {
  /** @type {Map<string, number>} */
  const sums = new Map()
  for (const { frames, self } of stacks)
    for (const frame of new Set(frames)) sums.set(frame, (sums.get(frame) ?? 0) + self)
  return sums
}
