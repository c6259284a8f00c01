import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, onTestFinished, TestRunner } from 'vitest'

/**
 * Makes a folder that is removed after the test that makes it, or after the tests of the file. Not in a concurrent test: Vitest does
 * not know then which one calls.
 * @param {string} name
 * @returns {string} its path
 */
export function makeFolder(name) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `${name}-`))
  const remove = () => rmSync(folder, { recursive: true, force: true })
  if (TestRunner.getCurrentTest()) onTestFinished(remove)
  else afterAll(remove)
  return folder
}

/** Returns a function that copies a folder, to be spoiled. @param {string} folder */
export function createCopier(folder) {
  let copies = 0
  return () => {
    const copy = `${folder}-copy-${++copies}`
    cpSync(folder, copy, { recursive: true })
    return copy
  }
}
