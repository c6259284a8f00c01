import { open } from 'node:fs/promises'

export const LOG_LINES = 8
const LINE_LENGTH = 300
const FOLDED_LINES = 2
const TAIL_BYTES = 64 * 1024

/**
 * Renders the last LOG_LINES lines of a log, or that it is empty, as the end of an error's message. Lines are cut to LINE_LENGTH
 * characters.
 * @param {string} text
 * @param {string} [file] of the log, to name
 * @returns {string}
 */
export function renderTail(text, file) {
  const at = file ? ` (${file})` : ''
  const lines = listLastLines(text, LOG_LINES).map(line => line.slice(0, LINE_LENGTH))
  return lines.length > 0 ? `; the end of its log${at}:\n  ${lines.join('\n  ')}` : `; its log is empty${at}`
}

/**
 * Shortens what `renderTail` added to a message to the last FOLDED_LINES lines, without the file. Other messages stay, also one that
 * says that its log is empty.
 * @param {string} message
 * @returns {string}
 */
export function foldTail(message) {
  const [, head, tail] = /^(.*?); the end of its log(?: \([^\n]*\))?:\n(.*)$/s.exec(message) ?? []
  if (head === undefined) return message
  const lines = listLastLines(tail, FOLDED_LINES).map(line => line.trim())
  return `${head}: ${lines.join(' / ')}`
}

/**
 * Lists the last `count` lines of a text that are not empty.
 * @param {string} text
 * @param {number} count
 * @returns {string[]} []: there are none
 */
export function listLastLines(text, count) {
  return text.trim().split('\n').filter(Boolean).slice(-count)
}

/**
 * Reads the last `bytes` of a file of any size, by default TAIL_BYTES, as UTF-8. The text may begin within a line or a character.
 * @param {string} file
 * @returns {Promise<string>} the whole file if it is smaller
 * @throws the system's error if it cannot be read
 */
export async function readFileTail(file, bytes = TAIL_BYTES) {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, Math.max(0, size - bytes))
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
