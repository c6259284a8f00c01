import { cpSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { beforeAll, describe, expect, it } from 'vitest'
import { readCommands } from '../docs/read-commands.js'
import { makeFolder } from '../fakes/scratch.js'
import { expectNothingLeft } from './leftovers.js'
import { need } from './real-tools.js'

// Every command of a block of the documentation, as it stands or, where that takes long, in its shortest form.
const folder = makeFolder('docs-test')
const scripts = path.join(folder, 'my-scripts')
cpSync('pipy-scripts', scripts, { recursive: true })
/** What `results/…` stands for, in the order in which a command names them. */
const runs = ['old', 'new'].map(name => path.join(folder, name))
let count = 0

const SHORT = ['--profile', 'smoke', '--rounds', '1']
const FEW_PODS = ['--planes', 'pipy,ztunnel:node', '--pairs', '1,2']
// 3: no verdict; 5: a threshold was crossed. One short round on a busy machine ends with either.
const MEASURED = [0, 3, 5]

const isOfNode = (/** @type {string} */ word) => word.startsWith('node-proxy')

/** How a verb that takes long is made short. @type {Record<string, (argv: string[]) => string[]>} */
const SMOKE = {
  bench: argv => {
    const short = argv.includes('balance') ? [] : [...SHORT, ...(argv.some(isOfNode) ? FEW_PODS : [])]
    return [...without(argv, short), ...short, '--out', path.join(folder, `run-${++count}`)]
  },
  // Without a folder it reads results/, which need not be there.
  report: argv => (argv.some(word => word.startsWith(folder)) ? argv : [...argv, runs[0]]),
}

/** Commands that no test runs as they stand, and why. @type {[RegExp, string][]} */
const SKIPPED = [
  [/--from-prometheus/, 'test/integration/production.test.js asks a recorded Prometheus'],
  [/--load-host/, 'needs another machine: test/integration/load-host.test.js makes one'],
  [/^node --test /, 'test/lab/new-scripts.test.js runs it'],
  [/^npm |vitest|npm-test|^npx (tsc|biome)/, 'installs the kit, or is a test itself'],
  [/^node bench\/self\//, 'measures the kit itself, for up to an hour'],
  [/^node src\/cli\.js parity/, 'parity.test.js tries every plane'],
  [/ bench (--profile quick )?--cpu 0\.[\d.,]+$/, 'smoke.test.js runs it, at one of these limits'],
  [/ bench .*=\.\/(my-scripts|a-copy)/, 'bench.test.js runs a variant'],
  [/ bench .*(=\.\/before|proxy=)/, 'pipelines.test.js runs folders with a pipeline.yaml'],
  [/--resume/, 'test/faults resumes a run'],
  [/--(live|metrics) /, 'test/integration/watched.test.js watches a run by both'],
  [/ bench .*--generator wrk/, 'generators.test.js runs every generator'],
  [/ bench --cpu \S+ --rate/, 'bench.test.js measures at a rate'],
  [/ bench .*--protocol grpc/, 'bench.test.js carries calls of gRPC, parity.test.js tries these planes'],
  [
    / bench .*--planes pipy,envoy,haproxy,nginx/,
    'parity.test.js tries these planes, reload in experiments.test.js runs them',
  ],
  [/ bench .*--threshold/, 'bench.test.js holds thresholds to their exit status'],
  [/ bench .*--chunks/, 'requests.test.js reads answers in chunks of these planes'],
  [/ bench as-deployed/, 'as-deployed.test.js runs it'],
  [/ bench node-proxy-loud/, 'takes minutes; interception.test.js runs it at its smallest size'],
  [/ bench (interception|.*--interception)/, 'interception.test.js redirects connections'],
  [/ bench .*--precision/, 'measures until it is precise: test/run/precision.test.js'],
  [/^node src\/cli\.js traffic/, 'test/verbs/traffic.test.js reads logs'],
  [/^node src\/cli\.js lab/, 'test/integration/lab.test.js counts with these options, test/lab makes a copy'],
  [/^node src\/cli\.js (size|bench drain)/, 'test/integration/quiet-experiments.test.js runs it'],
  [
    /^node src\/cli\.js bench (idle|conditions|cpu-request|hops|cap-ladder|soak|rollout|reload|rotation|churn|workers|grow|open-mesh|memory-of-services|shards|feature-ladder|protocol|kept-connections|load-curve)/,
    'test/integration/experiments.test.js runs it',
  ],
  [
    /^node src\/cli\.js bench --cpu \S+ --(link|services|tls|features|protocol|planes envoy)/,
    'experiments.test.js varies these axes; commands.test.js reads them',
  ],
  [
    / bench (commit-rate|concurrency|items)/,
    'experiments.test.js varies their axes in shards; commands.test.js reads them',
  ],
  [/ --target kubernetes/, 'needs a cluster: test/integration/kubernetes.test.js runs it there'],
]

beforeAll(async () => {
  const [old, same] = runs
  await execa('node', ['src/cli.js', 'bench', '--cpu', '0.25', ...SHORT, '--out', old])
  cpSync(old, same, { recursive: true })
}, 180_000)

describe('a command of the documentation', { timeout: 600_000 }, () => {
  const commands = readCommands().filter(command => command.isInBlock)
  // Commands that differ only in what is made short are one.
  const keyOf = (/** @type {typeof commands[0]} */ { argv }) => {
    const replaced = argv[2] === 'bench' ? SHORT : []
    return without(argv, replaced).join(' ')
  }
  const isFirst = (/** @type {typeof commands[0]} */ command, /** @type {number} */ i) =>
    commands.findIndex(other => keyOf(other) === keyOf(command)) === i

  it.for(commands.filter(isFirst))('$where: `$text` runs', async ({ argv }, context) => {
    const [, why] = SKIPPED.find(([pattern]) => pattern.test(argv.join(' '))) ?? []
    if (why) return context.skip(why)
    need(context, 'pipy', 'envoy', 'k6', 'caps', ...(argv.some(isOfNode) ? /** @type {const} */ (['ztunnel']) : []))
    const [program, ...args] = fill(argv)
    const isCli = args[0] === 'src/cli.js'
    const shorten = (isCli && !args.includes('--help') && SMOKE[args[1]]) || (same => same)
    const child = execa(program, shorten(args), { all: true, reject: false })
    const { exitCode, all } = await child
    expect(isCli ? MEASURED : [0], `${[program, ...shorten(args)].join(' ')}\n${all}`).toContain(exitCode)
    expectNothingLeft(child.pid)
  })
})

/** What a reader would put for the names of folders, addresses and machines of an example. @param {string[]} argv */
function fill(argv) {
  let named = 0
  return argv.map((word, i) => {
    // The page makes one before it reads it.
    if (/^results\/.*\.tar\.gz$/.test(word)) return `${runs[0]}.tar.gz`
    if (/^results\//.test(word)) return runs[named++ % runs.length]
    if (['--live', '--metrics'].includes(argv[i - 1])) return ':0'
    return word.replace(/(?<==)\.\/\S+/, scripts)
  })
}

/** Leaves out the replaced options and their values. @param {string[]} argv @param {string[]} replaced */
function without(argv, replaced) {
  const names = replaced.filter(word => word.startsWith('--'))
  return argv.filter((word, i) => !names.includes(word) && !names.includes(argv[i - 1]))
}
