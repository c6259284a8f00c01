import { readFileSync, realpathSync } from 'node:fs'
import path from 'node:path'
import { callSafely } from './call-safely.js'

/**
 * Finds the mount point that is mounted noexec, so that a file, or programs in a folder, cannot run. The file or folder need not
 * exist.
 * @param {string} file
 * @param {string} [mountinfo] text as in proc(5), by default that of this process
 * @returns {string | null} null: they can, or mounts cannot be read
 */
export function findNoexecMount(file, mountinfo = callSafely(() => readFileSync('/proc/self/mountinfo', 'utf8'), '')) {
  const real = resolveRealPath(path.resolve(file))
  /** @type {{ mountPoint: string, isNoexec: boolean } | null} */
  let nearest = null
  for (const line of mountinfo.split('\n')) {
    const [, , , , name = '', options = ''] = line.split(' ')
    // The kernel writes blanks and backslashes in octal.
    const mountPoint = name.replace(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8)))
    if (mountPoint === '' || !isWithin(real, mountPoint)) continue
    // The last of several mounts at one place hides the others.
    if (nearest === null || mountPoint.length >= nearest.mountPoint.length)
      nearest = { mountPoint, isNoexec: options.split(',').includes('noexec') }
  }
  return nearest?.isNoexec ? nearest.mountPoint : null
}

/**
 * Resolves the links in the part of a path that exists.
 * @param {string} file
 * @returns {string}
 */
function resolveRealPath(file) {
  return (
    callSafely(() => realpathSync(file), null) ??
    (file === '/' ? '/' : path.join(resolveRealPath(path.dirname(file)), path.basename(file)))
  )
}

/**
 * Says whether a path is the given folder, or lies below it. Both are absolute and normalised.
 * @param {string} file
 * @param {string} folder
 * @returns {boolean}
 */
function isWithin(file, folder) {
  return file === folder || file.startsWith(folder === '/' ? '/' : `${folder}/`)
}
