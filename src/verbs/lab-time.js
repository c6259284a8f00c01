import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { chooseAgainst, findAgainst, isKit } from '../lab/sides.js'
import { UsageError } from '../lib/errors.js'
import { benchWith } from './bench.js'

/**
 * `lab --time`: the CPU time of both sides, side by side.
 * @import { Side } from '../lab/sides.js' @import { Context } from './program.js'
 * @typedef {{ side: Side, against?: string, link: string[], payload?: number, pipy: string[] }} Timed link: the first is
 *   measured; pipy: programs
 */

/** Asserts that both sides can be measured. @param {Pick<Timed, 'side' | 'pipy'>} timed @throws {UsageError} */
export function assertTimed({ side, pipy }) {
  if (side.profile !== null)
    throw new UsageError(`--time does not redirect connections: measure ${side.label} with bench -- as-deployed`)
  if (pipy.length === 1)
    throw new UsageError(`--time needs --pipy twice: set PIPY=${pipy[0]} to measure both sides on one program`)
  if (pipy.length > 1 && !isKit(side.scripts))
    throw new UsageError(`--time with --pipy compares programs that run the kit's scripts: leave out ${side.label}`)
}

/** @param {Timed} timed @param {Context} context */
export async function timeSides({ side, against: named, link, payload, pipy }, context) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sidecar-bench-lab-'))
  try {
    const against = chooseAgainst(named ?? null, side.scripts)
    const into = path.join(folder, against.replace(/[^\w.-]+/g, '-'))
    const sides =
      pipy.length > 0 ? pipy : [(await findAgainst({ against, scripts: side.scripts, into })).scripts, side.scripts]
    const planes = sides.map(own => (isKit(own) ? 'pipy' : `pipy=${own}`))
    const words = ['cost', '--planes', planes.join(), '--link', link[0]]
    await benchWith([...words, ...(payload === undefined ? [] : ['--payload', `${payload}B`])], context)
  } finally {
    rmSync(folder, { recursive: true })
  }
}
