/** Protocol Buffers by the numbers of fields, without a schema and with no code of the kit: for clients of its gRPC servers. */

/** Encodes a field of bytes, a string or a message. @param {number} field @param {string | Buffer} content */
export function bytesOf(field, content) {
  const bytes = Buffer.from(content)
  return Buffer.concat([encodeVarint(field * 8 + 2), encodeVarint(bytes.length), bytes])
}

/** Encodes a field of an integer. @param {number} field @param {number} value */
export const varintOf = (field, value) => Buffer.concat([encodeVarint(field * 8), encodeVarint(value)])

/** Encodes a field of 32 bits. @param {number} field @param {number} value */
export function fixed32Of(field, value) {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return Buffer.concat([encodeVarint(field * 8 + 5), bytes])
}

/** Lists the values of a message by the numbers of their fields. @param {Buffer} message */
export function decodeMessage(message) {
  /** @type {Record<number, (number | Buffer)[]>} */
  const fields = {}
  let at = 0
  const varint = () => {
    let [value, factor] = [0, 1]
    for (let byte = 0x80; byte & 0x80; factor *= 128) {
      byte = message[at++]
      value += (byte & 0x7f) * factor
    }
    return value
  }
  while (at < message.length) {
    const tag = varint()
    const read = () => {
      if ((tag & 7) === 0) return varint()
      const length = (tag & 7) === 5 ? 4 : varint()
      const bytes = message.subarray(at, at + length)
      at += length
      return (tag & 7) === 5 ? bytes.readUInt32LE() : bytes
    }
    fields[tag >> 3] = [...(fields[tag >> 3] ?? []), read()]
  }
  return fields
}

/** @param {number} value */
function encodeVarint(value) {
  const bytes = []
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    bytes.push(rest < 128 ? rest : (rest % 128) + 128)
    if (rest < 128) return Buffer.from(bytes)
  }
}
