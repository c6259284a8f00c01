import path from 'node:path'
import { hashFolder } from '../lib/hash.js'
import { ROOT } from '../lib/paths.js'

/** The source folders of programs that the kit builds with Go, by program, from the root of the kit. @type {Record<string, string>} */
export const SOURCES = { ads: 'src/dataplanes/envoy/ads' }

/**
 * Says whether the kit builds a program itself.
 * @param {string} name of a program
 * @returns {boolean}
 */
export function isBuiltByKit(name) {
  return Object.hasOwn(SOURCES, name)
}

/**
 * Computes the SHA-256 of a program's source folder. The cache and images are named after it, so that a
 * changed source is built again; a program from a variable or PATH is not checked against it.
 * @param {string} name a key of SOURCES
 * @returns {string} in hexadecimal
 * @throws the system's error if a file of it cannot be read
 */
export function hashSource(name) {
  return hashFolder(path.join(ROOT, SOURCES[name]))
}
