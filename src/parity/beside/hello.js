import { randomBytes } from 'node:crypto'
import net from 'node:net'

/**
 * Reads the groups of a key exchange from the first messages of a handshake, which are plaintext (RFC 8446, 4.1). Node's own TLS
 * knows no post-quantum group before OpenSSL 3.5, and none is needed to read what peers choose and offer.
 * @import { Endpoint } from '../../model/types.ts'
 */

const HELLO_MS = 5000
// Numbers of record types, messages and extensions (RFC 8446: 5.1, 4, 4.2).
const [ALERT, HANDSHAKE] = [21, 22]
const [CLIENT_HELLO, SERVER_HELLO] = [1, 2]
const [SERVER_NAME, GROUPS, SIGNATURES, VERSIONS, KEY_SHARE] = [0, 10, 13, 43, 51]
const RANDOM_BYTES = 32
// Stands for an extension that is absent: an empty list is its length of two bytes, 0.
const EMPTY_LIST = Buffer.alloc(2)
const RECORD_HEAD_BYTES = 5
const HELLO_HEAD_BYTES = 4
const TLS_1_2 = 0x0303
const TLS_1_3 = 0x0304
const TLS_AES_128_GCM_SHA256 = 0x1301
// ecdsa_secp256r1_sha256, rsa_pss_rsae_sha256, rsa_pkcs1_sha256 (RFC 8446, 4.2.3).
const SIGNATURE_SCHEMES = [0x0403, 0x0804, 0x0401]

// IANA's registry of TLS supported groups.
const NAMES = new Map([
  [0x0017, 'P-256'],
  [0x0018, 'P-384'],
  [0x001d, 'X25519'],
  [0x11ec, 'X25519MLKEM768'],
])
const NUMBERS = new Map([...NAMES].map(([number, name]) => [name, number]))

/**
 * Renders a group of the key exchange.
 * @param {number} number
 * @returns {string} its name, or `group 0x…` if it has none in NAMES
 */
function renderGroup(number) {
  return NAMES.get(number) ?? `group 0x${number.toString(16)}`
}

/**
 * Reads which of some groups a server chooses. The hello offers the groups without a key share, so the server must name the one
 * that it wants (HelloRetryRequest).
 * @param {Endpoint} endpoint
 * @param {string[]} groups names of NAMES
 * @returns {Promise<string | null>} null: an alert, a broken connection, no answer within HELLO_MS, or an answer without a group
 */
export function readServerGroup({ address, port }, groups) {
  return new Promise(resolve => {
    const socket = net.connect({ host: address, port })
    let bytes = Buffer.alloc(0)
    const settle = (/** @type {string | null} */ group) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(group)
    }
    const timer = setTimeout(() => settle(null), HELLO_MS)
    socket.on('error', () => settle(null)).on('end', () => settle(null))
    socket.on('connect', () => socket.write(encodeClientHello(groups)))
    socket.on('data', data => {
      bytes = Buffer.concat([bytes, data])
      if (bytes[0] === ALERT) settle(null)
      else if (hasWholeRecord(bytes)) settle(parseServerGroup(bytes))
    })
  })
}

/**
 * Says whether bytes contain the whole first record.
 * @param {Buffer} bytes
 * @returns {boolean} false also: there are none
 */
export function hasWholeRecord(bytes) {
  return bytes.length >= RECORD_HEAD_BYTES && bytes.length >= RECORD_HEAD_BYTES + bytes.readUInt16BE(3)
}

/**
 * Parses the group that a server chose from its first record.
 * @param {Buffer} record
 * @returns {string | null} null: the record is no ServerHello with a key share, or a malformed one
 */
export function parseServerGroup(record) {
  return parseOrNull(() => readChosenGroup(record))
}

/**
 * Parses the key-exchange groups of a client's first record.
 * @param {Buffer} record
 * @returns {{ groups: string[], shares: string[] } | null} groups: offered, in the client's order, [] without that extension;
 *   shares: those with a key share; null: the record is no ClientHello, or a malformed one
 */
export function parseClientGroups(record) {
  return parseOrNull(() => readOfferedGroups(record))
}

/**
 * Calls a parser whose message may be malformed.
 * @template T
 * @param {() => T | null} parse
 * @returns {T | null} null: the parser gives it, or a length reaches beyond the message (RangeError, TypeError)
 * @throws any other error of the parser
 */
function parseOrNull(parse) {
  try {
    return parse()
  } catch (error) {
    if (error instanceof RangeError || error instanceof TypeError) return null
    throw error
  }
}

/**
 * Reads the group of a ServerHello.
 * @param {Buffer} record
 * @returns {string | null} null: the record is none, or has no key share
 * @throws {RangeError} or TypeError, if a length reaches beyond the message
 */
function readChosenGroup(record) {
  const message = readHandshakeMessage(record, SERVER_HELLO)
  if (message === null) return null
  const sessionOffset = HELLO_HEAD_BYTES + 2 + RANDOM_BYTES
  // The session id is followed by the suite (2 bytes) and the compression (1 byte).
  const share = findExtension(message, sessionOffset + 1 + message[sessionOffset] + 3, KEY_SHARE)
  return share === null ? null : renderGroup(share.readUInt16BE(0))
}

/**
 * Reads the groups of a ClientHello.
 * @param {Buffer} record
 * @returns {{ groups: string[], shares: string[] } | null} as `parseClientGroups`; null: the record is none
 * @throws {RangeError} or TypeError, if a length reaches beyond the message
 */
function readOfferedGroups(record) {
  const message = readHandshakeMessage(record, CLIENT_HELLO)
  if (message === null) return null
  const sessionOffset = HELLO_HEAD_BYTES + 2 + RANDOM_BYTES
  const suitesOffset = sessionOffset + 1 + message[sessionOffset]
  const compressionOffset = suitesOffset + 2 + message.readUInt16BE(suitesOffset)
  const extensionsOffset = compressionOffset + 1 + message[compressionOffset]
  const groupList = findExtension(message, extensionsOffset, GROUPS) ?? EMPTY_LIST
  const shareList = findExtension(message, extensionsOffset, KEY_SHARE) ?? EMPTY_LIST
  const groups = []
  for (let i = 0; i < Math.floor(groupList.readUInt16BE(0) / 2); i++)
    groups.push(renderGroup(groupList.readUInt16BE(2 + 2 * i)))
  const shares = []
  // Each share is a group, a length and so many bytes.
  for (let i = 2; i < shareList.length; i += 4 + shareList.readUInt16BE(i + 2))
    shares.push(renderGroup(shareList.readUInt16BE(i)))
  return { groups, shares }
}

/**
 * Encodes the record of a TLS 1.3 ClientHello for `server` that offers groups, without a key share.
 * @param {string[]} groups names of NAMES
 * @returns {Buffer}
 * @throws {TypeError} for another name
 */
export function encodeClientHello(groups) {
  const name = Buffer.from('server')
  const numbers = groups.map(group => /** @type {number} */ (NUMBERS.get(group)))
  const extensions = [
    encodeExtension(SERVER_NAME, encodeWithLength(2, Buffer.concat([Buffer.from([0]), encodeWithLength(2, name)]))),
    encodeExtension(GROUPS, encodeWithLength(2, encodeWords(numbers))),
    encodeExtension(SIGNATURES, encodeWithLength(2, encodeWords(SIGNATURE_SCHEMES))),
    encodeExtension(VERSIONS, encodeWithLength(1, encodeWords([TLS_1_3]))),
    encodeExtension(KEY_SHARE, encodeWithLength(2, Buffer.alloc(0))),
  ]
  const body = Buffer.concat([
    encodeWords([TLS_1_2]),
    randomBytes(RANDOM_BYTES),
    encodeWithLength(1, randomBytes(RANDOM_BYTES)),
    encodeWithLength(2, encodeWords([TLS_AES_128_GCM_SHA256])),
    encodeWithLength(1, Buffer.from([0])),
    encodeWithLength(2, Buffer.concat(extensions)),
  ])
  const message = Buffer.concat([Buffer.from([CLIENT_HELLO]), encodeWithLength(3, body)])
  return Buffer.concat([Buffer.from([HANDSHAKE]), encodeWords([TLS_1_2]), encodeWithLength(2, message)])
}

/**
 * Reads the message of a record.
 * @param {Buffer} record
 * @param {number} kind of the message
 * @returns {Buffer | null} null: the record is not whole, not of a handshake, or its message is of another kind
 */
function readHandshakeMessage(record, kind) {
  if (record[0] !== HANDSHAKE || !hasWholeRecord(record)) return null
  const message = record.subarray(RECORD_HEAD_BYTES, RECORD_HEAD_BYTES + record.readUInt16BE(3))
  return message[0] === kind ? message : null
}

/**
 * Finds the content of an extension.
 * @param {Buffer} message
 * @param {number} listOffset where the list of extensions begins, with its length
 * @param {number} extensionType its number
 * @returns {Buffer | null} null: the message does not have it
 */
function findExtension(message, listOffset, extensionType) {
  for (let i = listOffset + 2; i + 4 <= message.length; i += 4 + message.readUInt16BE(i + 2)) {
    if (message.readUInt16BE(i) === extensionType) return message.subarray(i + 4, i + 4 + message.readUInt16BE(i + 2))
  }
  return null
}

/**
 * Encodes an extension of a TLS message (RFC 8446, 4.2).
 * @param {number} kind its number
 * @param {Buffer} content
 * @returns {Buffer}
 */
function encodeExtension(kind, content) {
  return Buffer.concat([encodeWords([kind]), encodeWithLength(2, content)])
}

/**
 * Encodes each number as two bytes, big-endian, as TLS does.
 * @param {number[]} numbers below 65536
 * @returns {Buffer}
 */
function encodeWords(numbers) {
  const bytes = Buffer.alloc(2 * numbers.length)
  for (const [i, number] of numbers.entries()) bytes.writeUInt16BE(number, 2 * i)
  return bytes
}

/**
 * Prefixes content with its length, big-endian, as a vector of TLS has it.
 * @param {number} size of the length field, in bytes
 * @param {Buffer} content
 * @returns {Buffer}
 */
function encodeWithLength(size, content) {
  const length = Buffer.alloc(size)
  length.writeUIntBE(content.length, 0, size)
  return Buffer.concat([length, content])
}
