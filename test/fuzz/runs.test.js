import { readdirSync, rmSync } from 'node:fs'
import { afterAll, expect, it } from 'vitest'
import { BUNDLE_PARSERS } from './bundle-parsers.js'
import { RUN_FOLDER, RUN_PARSERS } from './run-parsers.js'
import { tryParsers } from './try-parsers.js'

afterAll(() => rmSync(RUN_FOLDER, { recursive: true, force: true }))

tryParsers('runs', [...RUN_PARSERS, ...BUNDLE_PARSERS])

it('bundles leave no file beside the run that they are unpacked to', () => {
  expect(readdirSync(RUN_FOLDER).sort()).toEqual(['bundle.tar.gz', 'changed', 'ledgers', 'runs', 'unpacked', 'whole'])
})
