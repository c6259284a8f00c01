import { rmSync } from 'node:fs'
import { afterAll } from 'vitest'
import { CLUSTER_PARSERS } from './cluster-parsers.js'
import { KERNEL_FOLDER, KERNEL_PARSERS } from './kernel-parsers.js'
import { PRODUCTION_PARSERS } from './production-parsers.js'
import { tryParsers } from './try-parsers.js'

afterAll(() => rmSync(KERNEL_FOLDER, { recursive: true, force: true }))

tryParsers('machines', [...PRODUCTION_PARSERS, ...KERNEL_PARSERS, ...CLUSTER_PARSERS])
