import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, it } from 'vitest'
import { hashKit } from '../../src/lib/kit.js'
import { locateCacheFolder } from '../../src/lib/paths.js'
import { makeFolder } from '../fakes/scratch.js'
import { expectNothingLeft } from './leftovers.js'
import { need, tools } from './real-tools.js'

// The packed kit in an empty folder: no file of this checkout is near it.
const folder = makeFolder('package-test')
const installed = path.join(folder, 'node_modules/sidecar-bench')
const SHORT = ['--profile', 'smoke', '--planes', 'pipy', '--link', 'ratings', '--rounds', '1', '--users', '5']
const isRoot = process.getuid?.() === 0
// vitest may run below npm, which says that this checkout is where one stands.
const OF_CHECKOUT = /^(npm_(?!config_(registry|cafile|.*proxy)$)|INIT_CWD$)/i
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_CHECKOUT.test(name)))

/** @param {string[]} words @param {{ cwd?: string, as?: string[] }} [options] as: the words before, of another user */
function kit(words, { cwd = folder, as = [] } = {}) {
  const [program, ...argv] = [...as, 'npx', '--no-install', 'sidecar-bench', ...words]
  return execa(program, argv, { cwd, env, extendEnv: false, reject: false })
}

beforeAll(async () => {
  const { stdout } = await execa(
    'npm',
    ['pack', '--json', '--foreground-scripts=false', '--pack-destination', folder],
    { env, extendEnv: false },
  )
  const [{ filename }] = JSON.parse(stdout)
  const words = ['install', '--prefer-offline', '--no-audit', '--no-fund', '--no-update-notifier', `./${filename}`]
  await execa('npm', words, { cwd: folder, env, extendEnv: false })
}, 180_000)

describe('the packed kit', { timeout: 120_000 }, () => {
  it('has no bundles, keys or tests, and the tests of scripts that lab copies', () => {
    const names = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    expect(
      names.filter(name =>
        /^(results|docs\/results|bench\/self)\/|examples\/[^/]+\/certificates\/|\.(pem|key|tgz)$/.test(name),
      ),
    ).toEqual([])
    expect(names).toContain('test/pipy-scripts/router.test.mjs')
    expect(names).toContain('schema/trial.schema.json')
    expect(names.filter(name => name.startsWith('test/') && !name.startsWith('test/pipy-scripts'))).toEqual([])
  })

  it('names its version and its commands as they are typed there, and plans', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect((await kit(['--version'])).stdout).toBe(version)
    expect((await kit(['--help'])).stdout).toContain('npx sidecar-bench bench --cpu 1')
    const { stdout, exitCode } = await kit(['plan', 'cap', '--planes', 'pipy', '--cpu', '0.5'])
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^cap: \d+ trials/)])
    expect((await kit(['completion', 'bash'])).stdout).toContain('complete -o default -F _sidecar_bench sidecar-bench')
  })

  it('measures, and leaves its results where one stands', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { exitCode, stdout, stderr } = await kit(['bench', '--cpu', '0.5', '--out', 'results/run', ...SHORT])
    expect([0, 3], stderr).toContain(exitCode)
    expect(stdout).toContain('npx sidecar-bench report --details')
    expect(`${stdout}${stderr}`).not.toContain('npm run')
    const run = path.join(folder, 'results/run')
    expect(readdirSync(run)).toContain('report.html')
    expect(readFileSync(path.join(run, 'report.md'), 'utf8')).not.toContain('npm run bench --')
    const manifest = JSON.parse(readFileSync(path.join(run, 'manifest.json'), 'utf8'))
    expect(manifest.kit).toMatchObject({ git: null, sha256: hashKit() })

    // The file of the run is verified elsewhere, by this checkout.
    expect((await kit(['report', 'results/run', '--bundle', 'run.tar.gz'])).exitCode).toBe(0)
    const verified = await execa('node', ['src/cli.js', 'verify', path.join(folder, 'run.tar.gz')])
    expect(verified.stdout).toContain('all of them agree')
    expectNothingLeft(manifest.run.id)
  })

  it('measures as another user, from a folder without write permission', async context => {
    need(context, 'pipy', 'k6')
    const user = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
    const probe = await execa('env', [...user, 'node', '--version'], { reject: false })
    if (probe.failed) context.skip(`another user cannot run Node here: ${probe.stderr}`)
    const home = makeFolder('package-home')
    // Programs of root's own cache are no other user's.
    const cache = path.join(home, 'cache')
    for (const name of ['pipy', 'k6'].filter(name => tools[name]?.path.startsWith(locateCacheFolder())))
      cpSync(path.join(locateCacheFolder(), name), path.join(cache, name), { recursive: true })
    mkdirSync(cache, { recursive: true })
    for (const at of [home, cache, folder]) chmodSync(at, 0o777)
    const modules = path.join(folder, 'node_modules')
    await execa('chmod', ['-R', 'a-w,a+rX', modules])
    context.onTestFinished(async () => void (await execa('chmod', ['-R', 'u+w', modules])))
    const as = [...user, 'env', `HOME=${home}`, `SIDECAR_BENCH_CACHE=${cache}`]
    const out = path.join(home, 'run')
    const { exitCode, stderr } = await kit(['bench', '--cpu', 'none', '--out', out, ...SHORT], { as })
    expect([0, 3], stderr).toContain(exitCode)
    expect(readdirSync(out)).toContain('report.html')
  })
})
