import { existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { readFilesToBundle, unpackBundle } from '../../src/records/bundle.js'
import { pick } from './mutate.js'
import { RUN_FOLDER } from './run-parsers.js'

/** Archives that are nearly bundles: headers, sizes and bytes of a right one are changed. */
/** @import { Parser } from './harness.js' @import { Random } from './mutate.js' */

const BLOCK = 512
// Fields of a header by place and length, in tar(5).
const FIELDS = { name: [0, 100], mode: [100, 8], size: [124, 12], type: [156, 1], link: [157, 100], prefix: [345, 155] }
const TEXTS = [
  ...['../../../../tmp/fuzz-escaped', '/tmp/fuzz-escaped', 'raw/../../x.json', 'raw/a/../b.json', 'summary.json', '.'],
  ...[
    'raw/a/b.json',
    'raw/a',
    'manifest.json/x',
    'a\0b',
    '\x1b[2J',
    '',
    'x'.repeat(100),
    '77777777777',
    '-1',
    '\x80\x7f',
  ],
  ...['00000000000', '00000001000', '7', '\xff\xff\xff\xff'],
]
const TYPES = '0 1 2 3 4 5 6 7 x g L K S \0 Z'.split(' ')

const files = readFilesToBundle(path.join(RUN_FOLDER, 'runs/small'))
const archive = pack()
for (const [name, text] of Object.entries(files)) archive.entry({ name, mode: 0o644 }, text.slice(0, 3000))
archive.finalize()
const whole = await buffer(archive)
/** The places of headers. @type {number[]} */
const headers = []
for (let at = 0; whole[at] !== 0; ) {
  headers.push(at)
  at += BLOCK * (1 + Math.ceil(Number.parseInt(whole.toString('latin1', at + 124, at + 136), 8) / BLOCK))
}

/** @param {Random} random */
function makeArchive(random) {
  let bytes = /** @type {Buffer} */ (Buffer.from(whole))
  for (let left = 1 + Math.floor(random() * 3); left > 0; left--) bytes = changeArchive(bytes, random)
  const packed = gzipSync(bytes, { level: 1 })
  if (random() < 0.1) packed[Math.floor(random() * packed.length)] ^= 1 + Math.floor(random() * 255)
  return random() < 0.05 ? packed.subarray(0, Math.floor(random() * packed.length)) : packed
}

/** @param {Buffer} bytes @param {Random} random */
function changeArchive(bytes, random) {
  const at = pick(headers, random)
  if (at + BLOCK > bytes.length) return bytes
  const ways = [
    () => bytes.subarray(0, Math.floor(random() * bytes.length)),
    () => Buffer.concat([bytes.subarray(0, at), bytes]),
    () => Buffer.concat([bytes, bytes]),
    () => {
      bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256)
      return bytes
    },
  ]
  if (random() < 0.3) return pick(ways, random)()
  const [from, length] = pick(Object.values(FIELDS), random)
  const text = from === FIELDS.type[0] ? pick(TYPES, random) : pick(TEXTS, random)
  bytes.fill(0, at + from, at + from + length)
  bytes.write(text.slice(0, length), at + from, 'latin1')
  // The sum of the header, with blanks in place of it.
  bytes.write('        ', at + 148, 'latin1')
  const sum = bytes.subarray(at, at + BLOCK).reduce((total, byte) => total + byte, 0)
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1')
  return bytes
}

const file = path.join(RUN_FOLDER, 'bundle.tar.gz')
const folder = path.join(RUN_FOLDER, 'unpacked')
mkdirSync(folder)
writeFileSync(file, '')

/** @type {Parser[]} */
export const BUNDLE_PARSERS = [
  {
    name: 'bundle of a run',
    share: 0.1,
    make: makeArchive,
    async parse(bytes) {
      rmSync(folder, { recursive: true })
      mkdirSync(folder)
      writeFileSync(file, bytes)
      await unpackBundle(file, folder)
      return readdirSync(folder)
    },
    findFault: names =>
      names.every((/** @type {string} */ name) => /^(?:manifest\.json|summary\.json|trials\.jsonl|raw)$/.test(name)) &&
      !existsSync('/tmp/fuzz-escaped')
        ? null
        : 'it has a file that no bundle has',
  },
]
