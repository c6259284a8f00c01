import { closeSync, openSync, readSync } from 'node:fs'

const buffer = Buffer.alloc(16384)

/**
 * A kernel file opened once and read again and again from its start: opening it each time costs
 * more than twice as much.
 * @param {string} path
 */
export function openCounterFile(path) {
  const fd = openSync(path, 'r')
  return {
    read: () => buffer.toString('latin1', 0, readSync(fd, buffer, 0, buffer.length, 0)),
    close: () => closeSync(fd),
  }
}

/**
 * The number after a name in a text of `name value` lines; NaN where the name is not there.
 * @param {string} text
 * @param {string} name
 */
export function valueOf(text, name) {
  const at = text.startsWith(`${name} `) ? 0 : text.indexOf(`\n${name} `) + 1
  if (at === 0 && !text.startsWith(`${name} `)) return Number.NaN
  return Number.parseInt(text.slice(at + name.length + 1, at + name.length + 24), 10)
}
