// @ts-nocheck: a Pipy script
// Pipy's JSON encoder leaves control bytes and bytes that are not UTF-8 as they are, and writes \a and \v, which JSON
// has not. A client may send all of them. Pure, and written in the JavaScript that Pipy and Node share, so that it is
// unit-tested in Node.

var BACKSLASH = 92
var SPACE = 32
// The bytes that Pipy escapes by the letters a and v.
var ESCAPED = new Map([[97, 7], [118, 11]])
// U+FFFD stands for each byte that is of no character.
var REPLACEMENT = [0xef, 0xbf, 0xbd]
// Bytes of a character by its first byte, and between what the second is (RFC 3629, 4).
var CHARACTERS = [
  { first: 0x00, last: 0x7f, size: 1, least: 0x00, most: 0xff },
  { first: 0xc2, last: 0xdf, size: 2, least: 0x80, most: 0xbf },
  { first: 0xe0, last: 0xe0, size: 3, least: 0xa0, most: 0xbf },
  { first: 0xe1, last: 0xec, size: 3, least: 0x80, most: 0xbf },
  { first: 0xed, last: 0xed, size: 3, least: 0x80, most: 0x9f },
  { first: 0xee, last: 0xef, size: 3, least: 0x80, most: 0xbf },
  { first: 0xf0, last: 0xf0, size: 4, least: 0x90, most: 0xbf },
  { first: 0xf1, last: 0xf3, size: 4, least: 0x80, most: 0xbf },
  { first: 0xf4, last: 0xf4, size: 4, least: 0x80, most: 0x8f },
]
// By the first byte itself.
var BY_FIRST = new Array(256).fill(0).map((_, byte) => CHARACTERS.find(c => byte >= c.first && byte <= c.last))

// bytes: of an object that Pipy encoded. Returns the bytes of the same object as JSON.
// What needs no mending is copied in runs: a close look at each byte would let one odd byte of a client cost a millisecond.
export function mendLine(bytes) {
  var parts = []
  var copied = 0
  var next = 0
  bytes.forEach(function (byte, at) {
    if ((byte >= SPACE && byte < 0x80 && byte !== BACKSLASH) || at < next) return
    var control = byte === BACKSLASH ? ESCAPED.get(bytes[at + 1]) : byte < SPACE ? byte : undefined
    var size = byte === BACKSLASH ? 2 : countBytes(bytes, at)
    next = at + (size || 1)
    if (control === undefined && size > 0) return
    parts.push(bytes.slice(copied, at), control === undefined ? REPLACEMENT : escape(control))
    copied = next
  })
  parts.push(bytes.slice(copied))
  return parts.flat()
}

// The bytes of \u00XX.
function escape(control) {
  var low = control % 16
  return [BACKSLASH, 117, 48, 48, control < 16 ? 48 : 49, low < 10 ? 48 + low : 87 + low]
}

// Of the character that begins there; 0: none does.
function countBytes(bytes, at) {
  var character = BY_FIRST[bytes[at]]
  if (!character) return 0
  if (character.size > 1 && !isBetween(bytes[at + 1], character.least, character.most)) return 0
  for (var i = 2; i < character.size; i++) {
    if (!isBetween(bytes[at + i], 0x80, 0xbf)) return 0
  }
  return character.size
}

function isBetween(byte, least, most) {
  return byte >= least && byte <= most
}
