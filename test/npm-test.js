import { execa } from 'execa'

// `npm test`: types and style are checked beside the unit tests, which wait more than they compute. The short run with the
// real tools comes last in vitest, when both have ended.
const inherit = /** @type {const} */ ({ stdio: 'inherit', preferLocal: true, reject: false })

/** Runs a check that says something only where it fails. @param {string} name @param {string[]} command */
async function check(name, [program, ...argv]) {
  const { all, failed } = await execa(program, argv, { all: true, preferLocal: true, reject: false })
  console.log(failed ? `FAILED: ${name}\n${all}` : `${name}: passed`)
  return failed
}

const failures = await Promise.all([
  check('style', ['biome', 'check', '--colors=off']),
  check('types', ['npm', 'run', '--silent', 'types']),
  execa('vitest', ['run', '--project', 'unit', '--project', 'fuzz', '--project', 'smoke'], inherit).then(r => r.failed),
])
const names = ['style', 'types', 'tests'].filter((_, i) => failures[i])
if (names.length > 0) console.log(`npm test failed: ${names.join(', ')}`)
process.exitCode = names.length > 0 ? 1 : 0
