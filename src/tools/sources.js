import path from 'node:path'
import { hashFolder } from '../lib/hash.js'
import { ROOT } from '../lib/paths.js'

/** The folders of programs that the kit builds with Go, from its root. @type {Record<string, string>} */
export const SOURCES = { ads: 'src/dataplanes/envoy/ads' }

/** @param {string} name of a program */
export function isBuilt(name) {
  return Object.hasOwn(SOURCES, name)
}

/** Computes the hash of a program's source: it is built again from another. @param {string} name */
export function hashSource(name) {
  return hashFolder(path.join(ROOT, SOURCES[name]))
}
