import { describe, expect, it } from 'vitest'
import { findErrorLine } from '../../src/certificates/issue-certificates.js'

describe('findErrorLine', () => {
  it.each([
    'Error: ENOTDIR: not a directory',
    "TypeError: Cannot read properties of undefined (reading 'x')",
    "Error [ERR_MODULE_NOT_FOUND]: Cannot find package 'x'",
    'DOMException [OperationError]: The operation failed',
  ])('finds the line that says why: %s', line => {
    expect(findErrorLine(`node:internal/x:1\n  throw it\n\n${line}\n    at a (b.js:1:1)\n`)).toBe(line)
  })

  it('finds none where a signal ended it', () => {
    expect(findErrorLine('')).toBeUndefined()
  })
})
