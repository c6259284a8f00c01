import { groupBy } from '../lib/group-by.js'
import { lowerFirstLetter } from '../lib/letters.js'
import { sumSelfCosts } from './profile.js'

/**
 * Groups Pipy's functions by purpose and filter, in the words of a script's author. Pure.
 * @import { Stack } from './profile.js'
 */

/**
 * Purposes by the names of functions. A function that matches no pattern works for its caller.
 * @type {[group: string, pattern: RegExp][]}
 */
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

/**
 * Classifies a stack by its innermost function whose name matches the pattern of a group.
 * @param {Pick<Stack, 'frames'>} stack
 * @returns {string} the group; `other`: no function matches
 */
export function classifyStack({ frames }) {
  for (const frame of frames) {
    const group = GROUPS.find(([, pattern]) => pattern.test(frame))?.[0]
    if (group) return group
  }
  return OTHER
}

/** The C++ classes of filters, by the names that filters have in scripts. */
const CLASSES = {
  demuxHTTP: 'http::Demux Demux DemuxQueue',
  muxHTTP: 'http::Mux Mux MuxBase MuxQueue MuxSession MuxSource',
  acceptTLS: 'tls::Server',
  connectTLS: 'tls::Client',
  connect: 'Connect OutboundTCP',
  listen: 'InboundTCP',
  pipe: 'Pipe PipeNext',
  detectProtocol: 'ProtocolDetector',
  'handle…': 'Handle',
  'on…': 'OnEvent OnMessage OnBody',
  'replace…': 'ReplaceEvent Replace',
  branch: 'Branch BranchBase',
  'throttle…': 'ThrottleBase',
}
/** Other classes of filters: scripts call them by the same name with a small first letter. */
const NAMESAKES =
  'Repeat Replay OnStart ReplaceStart ReplaceMessage ReplaceBody Print Dump Link Fork Deposit Wait Produce Tee'
const FILTERS = new Map([
  ...Object.entries(CLASSES).flatMap(([name, filters]) =>
    filters.split(' ').map(filter => /** @type {const} */ ([filter, name])),
  ),
  ...NAMESAKES.split(' ').map(filter => /** @type {const} */ ([filter, lowerFirstLetter(filter)])),
])
const FILTER = /^pipy::((?:http2?::|tls::)?\w+)::/

/**
 * Finds the innermost filter of a stack.
 * @param {Pick<Stack, 'frames'>} stack
 * @returns {string} its name in scripts; `other`: the stack has no filter
 */
export function findStackFilter(stack) {
  return cutAtFilter(stack).filter
}

/**
 * Cuts off the callers of a stack's innermost filter, since filters often call each other.
 * @param {Pick<Stack, 'frames'>} stack
 * @returns {{ filter: string, frames: string[] }} filter: its name in scripts; `other`: there is none, and frames has
 *   all
 */
export function cutAtFilter({ frames }) {
  const names = frames.map(frame => FILTERS.get(FILTER.exec(frame)?.[1] ?? ''))
  const index = names.findIndex(name => name !== undefined)
  return { filter: names[index] ?? OTHER, frames: index === -1 ? frames : frames.slice(0, index + 1) }
}

/**
 * Sums the costs of stacks by group.
 * @param {Stack[]} stacks
 * @param {(stack: Stack) => string} chooseGroup gives the name of a stack's group
 * @returns {Map<string, number>} the most expensive first; empty without stacks
 */
export function sumCostsBy(stacks, chooseGroup) {
  const sums = [...groupBy(stacks, chooseGroup)].map(
    ([name, group]) => /** @type {const} */ ([name, sumSelfCosts(group)]),
  )
  return new Map(sums.sort(([, a], [, b]) => b - a))
}

/**
 * Sums the cost of each function with all that it calls. In a stack that has a function several times, it counts once.
 * @param {Stack[]} stacks
 * @returns {Map<string, number>} by the name of the function
 */
export function sumInclusiveCosts(stacks) {
  /** @type {Map<string, number>} */
  const sums = new Map()
  for (const { frames, self } of stacks)
    for (const frame of new Set(frames)) sums.set(frame, (sums.get(frame) ?? 0) + self)
  return sums
}
