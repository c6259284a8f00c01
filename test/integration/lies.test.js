import { spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { waitForCondition, waitUntilEpoch } from '../../src/lib/wait.js'
import { listArms } from '../../src/model/results.js'
import { listProcEntries, readProcFile } from '../../src/node/kernel/proc-files.js'
import { readLedgers } from '../../src/node/ledger.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { makeFolder } from '../fakes/scratch.js'
import { awaitWindowStart } from './await-window.js'
import { pidsOf } from './leftovers.js'
import { capWay, need, needNamespaces, tools } from './real-tools.js'

// The ways in which a benchmark lies, each made to happen with the real tools, and caught by the gate named for it.
const folder = makeFolder('lies-test')
let count = 0

/**
 * A run of one plane at one sidecar, with something done to it once its window is open.
 * @param {string[]} argv
 * @param {{ env?: Record<string, string>, beforeLoad?: (out: string) => unknown,
 *   inWindow?: (out: string, child: import('execa').ResultPromise) => unknown }} [options]
 */
async function lie(argv, { env, beforeLoad, inWindow } = {}) {
  const out = path.join(folder, `run-${++count}`)
  const held = `${out}-held`
  const K6 = beforeLoad && createHeldGenerator(held)
  const common = [
    '--measure',
    'load',
    '--profile',
    'smoke',
    '--link',
    'ratings',
    '--users',
    '5',
    '--details',
    '--out',
    out,
  ]
  const child = execa('node', ['src/cli.js', 'bench', ...common, ...argv], {
    reject: false,
    env: { ...env, ...(K6 && { K6 }) },
  })
  if (beforeLoad) {
    const isHeld = async () => existsSync(held)
    await waitForCondition(isHeld, { what: 'the load generator to start', deadlineSeconds: 60, intervalMs: 50 })
    await beforeLoad(out)
    rmSync(held)
  }
  if (inWindow) {
    await waitUntilEpoch((await awaitWindowStart(out)) + 100)
    await inWindow(out, child)
  }
  const { exitCode, stdout, stderr } = await child
  const records = exitCode === 1 ? [] : readRun(out).records
  const gates = records.flatMap(r => r.gates)
  // Long lines are wrapped where a word ends.
  const unwrapped = `${stdout}`.replace(/\s+/g, ' ')
  return { exitCode, stdout: unwrapped, stderr: `${stderr}`, records, gates, out }
}

/** Finds the group of what runs as a role. @param {string} out of the run @param {string} role */
function findGroup(out, role) {
  if (capWay.how !== 'v1' && capWay.how !== 'v2') throw new Error('no cgroups')
  const base = `sidecar-bench.${readLedgers().find(({ owner }) => owner?.command.includes(out))?.runId}`
  const [group] = readdirSync(path.join(capWay.parents.cpu, base)).filter(name => name.endsWith(role))
  return path.join(capWay.parents.cpu, base, group)
}

/**
 * Sets the quota of what runs as a role, in the cgroup of version 1 or 2; null: none.
 * @param {string} out of the run @param {string} role @param {number | null} cores
 */
function setQuota(out, role, cores) {
  const at = findGroup(out, role)
  if (capWay.how === 'v1') writeFileSync(path.join(at, 'cpu.cfs_quota_us'), `${cores === null ? -1 : cores * 100_000}`)
  else writeFileSync(path.join(at, 'cpu.max'), cores === null ? 'max 100000' : `${cores * 100_000} 100000`)
}

/**
 * Takes the redirection away from the two pods of a pair. @param {string} out of the run @param {RegExp} pair the names of their namespaces
 */
async function flushRules(out, pair) {
  const runId = readLedgers().find(({ owner }) => owner?.command.includes(out))?.runId
  const pods = listProcEntries('/run/netns').filter(
    name => name.startsWith(`sidecar-bench.${runId}`) && pair.test(name),
  )
  expect(pods).toHaveLength(2)
  const inPods = (/** @type {string[]} */ ...command) =>
    Promise.all(pods.map(pod => execa('ip', ['netns', 'exec', pod, ...command])))
  await inPods('iptables', '-t', 'nat', '-F')
  // Connections that are open would go on through the proxy.
  await inPods('conntrack', '-F')
}

/**
 * A variant of the kit's Pipy scripts.
 * @param {string} name @param {(text: string) => string} change @param {string} file
 */
function createVariant(name, file, change) {
  const variant = path.join(folder, name)
  cpSync('pipy-scripts', variant, { recursive: true })
  const before = readFileSync(path.join(variant, file), 'utf8')
  const after = change(before)
  expect(after).not.toBe(before)
  writeFileSync(path.join(variant, file), after)
  return variant
}

/**
 * A program that stands before the real one.
 * @param {string} name @param {string} script of the shell; "$TOOL" is the real program @param {'pipy' | 'envoy' | 'k6' | 'ztunnel' | 'linkerd2-proxy'} tool
 */
function createWrapper(name, tool, script) {
  const file = path.join(folder, name)
  writeFileSync(
    file,
    `#!/bin/bash\nTOOL=${tools[tool]?.path}\n[ "$1" = --version ] && exec "$TOOL" --version\n${script}\n`,
  )
  chmodSync(file, 0o755)
  return file
}

/** A load generator that begins when its file is removed, at the latest after 20 s. @param {string} held the file */
function createHeldGenerator(held) {
  const waits = `for _ in {1..400}; do [ -e ${held} ] || break; sleep 0.05; done`
  return createWrapper(
    `${path.basename(held)}-k6`,
    'k6',
    `[ "$1" = run ] && { touch ${held}; ${waits}; }\nexec "$TOOL" "$@"`,
  )
}

describe('is caught:', { timeout: 180_000 }, () => {
  it('a generator that is throttled', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { records, gates } = await lie(['--planes', 'pipy', '--cpu', '0.5'], {
      inWindow: out => setQuota(out, 'k6-generator', 0.05),
    })
    expect(gates.filter(g => g.gate === 'generator').map(g => g.reason)).toContain('the generator was throttled')
    expect(records[0]).toMatchObject({ boundBy: 'generator', outcome: 'completed' })
    expect(gates[0].spoils).not.toContain('cpuPerRequest')
  })

  it.concurrent('an application that is throttled', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { gates } = await lie(['--planes', 'pipy', '--cpu', '0.5'], {
      inWindow: out => setQuota(out, 'ratings-application', 0.02),
    })
    expect(gates.map(g => `${g.gate}: ${g.reason}`)).toContain("application: ratings's application was throttled")
  })

  it.concurrent('a cap that is taken away in the middle', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { records } = await lie(['--planes', 'pipy', '--cpu', '0.25'], {
      inWindow: out => setQuota(out, 'ratings-sidecar', null),
    })
    expect(records[0]).toMatchObject({ outcome: 'invalid' })
    expect(records[0].reasons[0]).toBe(
      "cap: ratings's sidecar was to be capped at 0.25 cores, and the kernel says no quota",
    )
  })

  it('a cap that is taken away and put back', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { records } = await lie(['--planes', 'pipy', '--cpu', '0.1'], {
      inWindow: async out => {
        setQuota(out, 'ratings-sidecar', null)
        await delay(700)
        setQuota(out, 'ratings-sidecar', 0.1)
      },
    })
    expect(records[0].gates.map(g => g.reason).join()).toMatch(
      /ratings's sidecar used 0\.\d+ cores under a cap of 0\.1/,
    )
    expect(records[0].outcome).toBe('invalid')
  })

  it.concurrent('a sidecar that leaves the group which counts its CPU time', async context => {
    need(context, 'envoy', 'k6', 'caps')
    const { records } = await lie(['--planes', 'envoy', '--cpu', '0.25'], {
      inWindow: out => {
        if (capWay.how !== 'v1' && capWay.how !== 'v2') throw new Error('no cgroups')
        const [pid] = pidsOf('ratings-sidecar', out)
        writeFileSync(path.join(capWay.parents.cpuacct, 'cgroup.procs'), `${pid}`)
      },
    })
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.join('\n')).toMatch(
      /^accounting: process \d+ is not in .*, where ratings's sidecar is counted$/m,
    )
    expect(records[0].reasons.join('\n')).toMatch(
      /^accounting: the group of ratings's sidecar counted 0\.\d+ s of CPU time, and its processes used 0\.\d+ s$/m,
    )
  })

  it.concurrent('a sidecar that is stopped, with the phase and its state', async context => {
    need(context, 'envoy', 'k6', 'caps')
    const { records } = await lie(['--planes', 'envoy', '--cpu', '0.5'], {
      inWindow: out => process.kill(pidsOf('ratings-sidecar', out)[0], 'SIGSTOP'),
    })
    expect(records[0].reasons[0]).toMatch(
      /^ratings's sidecar came to a stop in the window: its process (\d+) is stopped \(state T in \/proc\/\1\/stat\)/,
    )
  })

  it.concurrent('a sidecar that is killed for memory, with its limit', async context => {
    need(context, 'envoy', 'k6', 'caps')
    const { stderr } = await lie(['--planes', 'envoy', '--cpu', '0.5', '--memory', '8MiB'])
    expect(stderr).toMatch(
      /ratings-sidecar did not start: it ended with .*: the kernel killed it for memory \(its limit is 8\.0 MiB\)/,
    )
    expect(stderr).not.toMatch(/^\s+at /m)
  })

  it.concurrent('a plane that answers by itself', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    const variant = createVariant('local', 'proxy.js', text =>
      text
        .replace('.to(way)', '.to(answerHere)')
        .replace(
          'var notFound =',
          "var answerHere = pipeline($=>$.replaceMessage(m => new Message({ headers: m.head.headers['x-nonce'] ? { 'x-nonce': m.head.headers['x-nonce'] } : {} }, m.body)))\nvar notFound =",
        ),
    )
    const { records, stdout, exitCode } = await lie(['--planes', `pipy=${variant},envoy`, '--cpu', '0.5'])
    const local = records.find(r => r.trial.arm.variant)
    expect(local?.outcome).toBe('invalid')
    expect(local?.reasons[0]).toMatch(
      /^source: ratings's application did no work for \d+ answers: something before it gave them$/,
    )
    expect(stdout).toMatch(
      /unequal work \(answers\): pipy=local: \d+ of (\d+) as they must be, \1 of \1 as they must be is expected/,
    )
    expect(stdout).toContain('CPU per request of pipy=local and envoy: no verdict')
    expect(exitCode).toBe(3)
  })

  it.concurrent('a plane that answers something else', async context => {
    need(context, 'pipy', 'k6', 'caps')
    // Only now and then, and not to the nonce before load.
    const variant = createVariant('other', 'proxy.js', text =>
      text
        .replace(
          '.to(way)',
          ".to($=>$.pipe(start => !start.head.headers['x-nonce'] && Math.random() < 0.01 ? wrong : way))",
        )
        .replace('var notFound =', "var wrong = pipeline($=>$.replaceMessage(reply(200, 'x')))\nvar notFound ="),
    )
    const { records, exitCode } = await lie(['--planes', `pipy=${variant}`, '--cpu', '0.5'])
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.join()).toMatch(
      /errors: \d+ requests failed \(.* %, at most 0.1 %\): status 200, 1 bytes/,
    )
    expect(exitCode).toBe(3)
  })

  it.concurrent('a response that is shorter than requested', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const variant = createVariant('shorter', 'proxy.js', text =>
      text.replace(
        '.to(way)',
        '.to($=>$.pipe(way).replaceMessage(m => Math.random() < 0.05 ? new Message(m.head, m.body.shift(7000)) : m))',
      ),
    )
    const { records } = await lie(['--planes', `pipy=${variant}`, '--cpu', '0.5', '--response', '14KiB'])
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.join()).toMatch(/errors: \d+ requests failed \(.*: status 200, 7000 bytes/)
  })

  it.concurrent('mTLS that is not spoken', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    const variant = createVariant('spoken', 'main.js', text =>
      text.replace('{ strict, permissive, disabled: plaintext }[mtls]', 'plaintext'),
    )
    const upstream = path.join(variant, 'upstream.js')
    writeFileSync(upstream, readFileSync(upstream, 'utf8').replace('if (!cluster.mtls) return', 'return'))
    const planes = ['--planes', `pipy=${variant},envoy`, '--cpu', '0.5', '--link', 'gateway-ratings']
    const { stdout, records, exitCode } = await lie(planes)
    // Each request is answered: only the check for equal work knows.
    expect(records.map(r => r.load?.failed)).toEqual(records.map(() => 0))
    expect(stdout).toMatch(
      /no verdict: .*unequal work \(tls\): pipy=spoken: as a server no TLS, as a client nothing, TLSv1\.3/,
    )
    expect(stdout).toContain('pipy=spoken: plaintext, in strict mode: accepted, expected refused')
    expect(exitCode).toBe(3)
  })

  it.concurrent('a proxy that the load goes past, on loopback', async context => {
    need(context, 'pipy', 'k6', 'caps')
    // The application listens at the address of its sidecar.
    const K6 = createWrapper('past', 'k6', `exec "$TOOL" "\${@/:15003/:8080}"`)
    const { records } = await lie(['--planes', 'pipy', '--cpu', '0.5'], { env: { K6 } })
    expect(Number(records[0].load?.verified)).toBeGreaterThan(100)
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.join()).toMatch(/passage: ratings's sidecar received \d+ bytes, .*: they went past it/)
  })

  it.concurrent('a sidecar that the one before it goes past, to its application on loopback', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const variant = createVariant('beside', 'upstream.js', text =>
      text.replace(
        'export function createUpstream(cluster) {',
        'export function createUpstream(cluster) {\n  cluster.endpoints.forEach(endpoint => endpoint.port = 8080)',
      ),
    )
    const link = ['--link', 'gateway-ratings', '--tls', 'plaintext']
    const { records } = await lie(['--planes', `pipy=${variant}`, '--cpu', '0.5', ...link])
    expect(Number(records[0].load?.verified)).toBeGreaterThan(100)
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.filter(reason => reason.startsWith('passage')).join()).toMatch(
      /^passage: ratings's sidecar received \d+ bytes, .*: they went past it$/,
    )
  })

  it.concurrent('a pod whose application is reached past the proxy of its node', async context => {
    need(context, 'ztunnel', 'k6')
    await needNamespaces(context, 'iptables', 'conntrack', 'ss')
    const pairs = ['--link', 'gateway-ratings', '--pairs', '3', '--rate', '300', '--interception', 'redirect']
    const longer = ['--profile', 'quick', '--rounds', '1']
    const { records } = await lie(['--planes', 'ztunnel:node', '--cpu', 'none', ...pairs, ...longer], {
      // Bytes that came before would be a part of its share.
      beforeLoad: out => flushRules(out, /\.(?:gateway|ratings)-of-2$/),
    })
    expect(Number(records[0].load?.verified)).toBeGreaterThan(100)
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.join()).toMatch(
      /passage: the proxy of the node received \d+ bytes in the pod of gateway-of-2, and its share of .*: they went past it/,
    )
  })

  describe('a loud pair', () => {
    const LOUD = ['--link', 'gateway-ratings', '--pairs', '2', '--rate', '100', '--loud', '300', '--cpu', 'none']
    const lieLoudly = (/** @type {Parameters<typeof lie>[1]} */ options) =>
      lie(['--planes', 'pipy', '--interception', 'redirect', ...LOUD], options)

    it('whose load ends before the window', async context => {
      need(context, 'pipy', 'k6')
      await needNamespaces(context, 'iptables')
      const scripts = path.join(folder, 'ended-scripts')
      const K6 = createWrapper(
        'ended',
        'k6',
        `[ "$1" = run ] || exec "$TOOL" "$@"\ncp -r "$(dirname "\${@: -1}")" ${scripts}\nsed -i "s/exec: 'askLoud'/&, duration: '1s'/" ${scripts}/open-loop.js\nexec "$TOOL" "\${@:1:$#-1}" ${scripts}/open-loop.js`,
      )
      const { records } = await lieLoudly({ env: { K6 } })
      expect(Number(records[0].load?.verified)).toBeGreaterThan(100)
      expect(records[0].outcome).toBe('invalid')
      expect(records[0].reasons).toContain(
        'not-loud: the loud pair answered 0 of 450 requests that were due, and 0 failed: nothing was loud beside the others, which answered 150 each',
      )
    })

    it('that gets a lower rate than asked for', async context => {
      need(context, 'pipy', 'k6')
      await needNamespaces(context, 'iptables')
      const K6 = createWrapper('softer', 'k6', `exec "$TOOL" "\${@/LOUD_RATE=300/LOUD_RATE=30}"`)
      const { records } = await lieLoudly({ env: { K6 } })
      expect(records[0].load?.loud?.verified).toBeGreaterThan(30)
      expect(records[0].outcome).toBe('invalid')
      expect(records[0].reasons).toContain(
        'asked-rate: 45 requests to the loud pair were due in the window, and the rate asks for 450',
      )
    })

    it('whose connections go past its sidecars', async context => {
      need(context, 'pipy', 'k6')
      await needNamespaces(context, 'iptables', 'conntrack', 'ss')
      const { records } = await lieLoudly({ beforeLoad: out => flushRules(out, /\.(?:gateway|ratings)$/) })
      expect(Number(records[0].load?.loud?.verified)).toBeGreaterThan(200)
      expect(records[0].outcome).toBe('invalid')
      expect(records[0].reasons.filter(reason => reason.startsWith('passage'))).toEqual([
        expect.stringMatching(/^passage: gateway's sidecar received \d+ bytes, .*: they went past it$/),
        expect.stringMatching(/^passage: ratings's sidecar received \d+ bytes, .*: they went past it$/),
      ])
    })
  })

  it.concurrent('a rate that is another than asked for', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const K6 = createWrapper('slower', 'k6', `exec "$TOOL" "\${@/--env=RATE=200/--env=RATE=100}"`)
    const { records } = await lie(['--planes', 'pipy', '--cpu', '0.5', '--rate', '200'], { env: { K6 } })
    expect(records[0].load?.verified).toBeGreaterThan(100)
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons).toContain('asked-rate: 150 requests were due in the window, and the rate asks for 300')
  })

  it.concurrent('kinds of requests that are not sent in their shares', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const traffic = path.join(folder, 'shop.yaml')
    const kinds = ['/a, weight: 60', '/b, weight: 40'].map(kind => `  - { method: GET, path: ${kind}, response: 1KiB }`)
    writeFileSync(traffic, `kinds:\n${kinds.join('\n')}\n`)
    const K6 = createWrapper('shares', 'k6', `exec "$TOOL" "\${@//\\"weight\\":60/\\"weight\\":20}"`)
    const { records } = await lie(['--planes', 'pipy', '--cpu', '0.5', '--traffic', traffic], { env: { K6 } })
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.join()).toMatch(/mix: \d+ of \d+ requests were GET \/a, and \d+ are its share/)
  })

  // As deployed, a difference is a finding: plaintext is none.
  it.concurrent.for(['ztunnel', 'ztunnel:istio'])('a ztunnel that passes plaintext, of %s', async (plane, context) => {
    need(context, 'pipy', 'ztunnel', 'k6', 'caps')
    await needNamespaces(context, 'iptables')
    // The sidecar's user writes into it.
    const plain = mkdtempSync(path.join(folder, 'plain-'))
    chmodSync(plain, 0o777)
    const ZTUNNEL = createWrapper(
      'plain-ztunnel',
      'ztunnel',
      `sed 's/HBONE/TCP/; /^policies:/,$d' "$LOCAL_XDS_PATH" > "${plain}/$$.yaml"\nLOCAL_XDS_PATH="${plain}/$$.yaml" exec "$TOOL" "$@"`,
    )
    const argv = ['--planes', `pipy,${plane}`, '--cpu', '0.5', '--interception', 'redirect']
    const { stdout, records, exitCode } = await lie([...argv, '--link', 'gateway-ratings'], { env: { ZTUNNEL } })
    // Each request is answered: only the check for equal work knows.
    expect(new Set(records.map(r => r.load?.failed))).toEqual(new Set([0]))
    expect(stdout).toMatch(/Equal-work check: NOT passed: .* refusals /)
    expect(stdout).toContain(`${plane}: plaintext, in strict mode: accepted, expected refused`)
    expect(stdout).toContain(`CPU per request of pipy and ${plane}: no verdict`)
    expect(exitCode).toBe(3)
  })

  // A proxy sends plaintext to an address that it takes for its own application's.
  it.concurrent("a Linkerd's proxy that sends plaintext to others", async context => {
    need(context, 'pipy', 'linkerd2-proxy', 'k6', 'caps')
    await needNamespaces(context, 'iptables')
    const LINKERD2_PROXY = createWrapper(
      'plain-linkerd',
      'linkerd2-proxy',
      `export LINKERD2_PROXY_INBOUND_IPS="$LINKERD2_PROXY_INBOUND_IPS$(printf ',10.77.0.%s' {1..254})"\nexec "$TOOL" "$@"`,
    )
    const argv = ['--planes', 'pipy,linkerd:deployed', '--cpu', '0.5', '--interception', 'redirect']
    const { stdout, records } = await lie([...argv, '--link', 'gateway-ratings'], { env: { LINKERD2_PROXY } })
    // The next proxy refuses it, so that nothing is measured.
    expect(stdout).toMatch(/Not measured: linkerd:deployed: one request through \S+ \(\S+\) was answered 403/)
    expect(records.map(({ trial }) => trial.arm.plane)).not.toContain('linkerd')
  })

  it.concurrent('unequal workers', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    const ENVOY = createWrapper(
      'more-workers',
      'envoy',
      'for a; do shift; set -- "$@" "$([ "$before" = --concurrency ] && echo 2 || echo "$a")"; before=$a; done; exec "$TOOL" "$@"',
    )
    const { records, stdout } = await lie(['--planes', 'pipy,envoy', '--cpu', '0.5'], { env: { ENVOY } })
    expect(stdout).toContain('no verdict: unequal work (workers): envoy: 2 a sidecar, 1 a sidecar is expected')
    expect(records.find(r => r.trial.arm.plane === 'envoy')?.reasons).toContain(
      "workers: ratings's sidecar listens with 2 sockets an address, and 1 workers were asked for",
    )
  })

  it.concurrent('unequal TLS', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    const variant = createVariant('tls', 'tls.js', text =>
      text.replace('ciphers: config.tls.suite', "ciphers: 'TLS_AES_256_GCM_SHA384'"),
    )
    const { stdout, records, exitCode } = await lie(['--planes', `pipy=${variant},envoy`, '--cpu', '0.5'])
    expect(stdout).toContain(
      'no verdict: unequal work (tls): pipy=tls: TLSv1.3 TLS_AES_256_GCM_SHA384 X25519 ecdsa-p256, TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 ecdsa-p256 is expected',
    )
    // The runs beside this one may spoil a trial; what was measured well gives no verdict either.
    expect(records.map(r => r.outcome)).toContain('completed')
    expect(exitCode).toBe(3)
  })

  it.concurrent('connections that are not kept', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    const variant = createVariant('unkept', 'upstream.js', text =>
      text.replace('.muxHTTP(endpoint.valueOf, ', '.muxHTTP(() => ({}), '),
    )
    const { stdout } = await lie(['--planes', `pipy=${variant},envoy`, '--cpu', '0.5'])
    expect(stdout).toMatch(
      /unequal work \(pooling\): pipy=unkept: \d+ connections for \d+ requests at client's sidecar and \d+ connections for \d+ requests at permissive's sidecar, kept and used again is expected/,
    )
  })

  it.concurrent('a sidecar that logs what the other does not', async context => {
    need(context, 'pipy', 'envoy', 'k6', 'caps')
    const variant = createVariant('logging', 'proxy.js', text =>
      text.replace('.to(way)', '.to($=>$.handleMessageStart(function (start) { println(start.head.path) }).pipe(way))'),
    )
    const { stdout } = await lie(['--planes', `pipy=${variant},envoy`, '--cpu', '0.5'])
    expect(stdout).toMatch(
      /unequal work \(logging\): pipy=logging: \d+ bytes for \d+ requests, nothing for \d+ requests is expected/,
    )
  })

  it.concurrent('a sidecar that is started again', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const PIPY = createWrapper('again', 'pipy', 'while true; do "$TOOL" "$@"; done')
    const { records } = await lie(['--planes', 'pipy', '--cpu', '0.5', '--app', 'node'], {
      env: { PIPY },
      inWindow: out => {
        const pids = pidsOf('ratings-sidecar', out).filter(
          pid => !readProcFile(`/proc/${pid}/cmdline`).startsWith('/bin/bash'),
        )
        for (const pid of pids) process.kill(pid, 'SIGKILL')
      },
    })
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons).toContain("restart: ratings's sidecar is another process than was started")
  })

  it('samples that are missing', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { records } = await lie(['--planes', 'pipy', '--cpu', '0.5'], {
      inWindow: async (_, child) => {
        child.kill('SIGSTOP')
        await delay(3000)
        child.kill('SIGCONT')
      },
    })
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.join()).toMatch(
      /samples: no sample for 1\.\d s of the window,samples: an edge of the window was read \d+ ms late/,
    )
  })

  it('a busy neighbour', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const neighbour = spawn('sh', ['-c', 'while :; do :; done'])
    const { records } = await lie(['--planes', 'pipy', '--cpu', '0.25']).finally(() => neighbour.kill('SIGKILL'))
    expect(records[0].reasons.join()).toMatch(/neighbour: something else used \d\.\d+ cores of this machine/)
    expect(records[0]).toMatchObject({ outcome: 'completed' })
  })

  it('a neighbour of the kit that rests, and the weight of a CPU request is set', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const shares = { v1: ['cpu.shares', '102'], v2: ['cpu.weight', '17'] }
    const [file, expected] = shares[/** @type {'v1' | 'v2'} */ (capWay.how)]
    let weight = ''
    const { records, gates } = await lie(
      ['--planes', 'pipy', '--cpu', '0.25', '--cpu-request', '0.1', '--neighbour', '1c'],
      {
        async inWindow(out) {
          const at = findGroup(out, 'ratings-sidecar')
          weight = readFileSync(path.join(at, file), 'utf8').trim()
          const [pid] = readFileSync(path.join(findGroup(out, 'neighbour'), 'cgroup.procs'), 'utf8').split('\n')
          process.kill(Number(pid), 'SIGSTOP')
          await delay(700)
          process.kill(Number(pid), 'SIGCONT')
        },
      },
    )
    expect(weight).toBe(expected)
    expect(gates.map(({ gate }) => gate)).toContain('kit-neighbour')
    expect(records[0].reasons.join()).toMatch(
      /the neighbour burnt 0\.\d+ CPUs and waited for \d\.\d+, and 1 were asked for/,
    )
    expect(records[0].outcome).toBe('invalid')
  })

  it.concurrent('requests that a limit of the sidecar turned away', async context => {
    need(context, 'envoy', 'k6', 'caps')
    const ENVOY = createWrapper(
      'limited',
      'envoy',
      `sed -i 's/"max_pending_requests": 1000000000/"max_pending_requests": 1/; s/"max_connections": 1000000000/"max_connections": 1/' "$2"\nexec "$TOOL" "$@"`,
    )
    const { records } = await lie(['--planes', 'envoy', '--cpu', '0.5'], { env: { ENVOY } })
    expect(records[0].outcome).toBe('invalid')
    expect(records[0].reasons.join()).toMatch(/overflow: ratings's sidecar answered \d+ requests itself, for overflow/)
    expect(records[0].reasons.join()).toMatch(/errors: \d+ requests failed \(.*status 503/)
  })

  it('a rate above the knee, and a closed loop whose times are no latency', async context => {
    need(context, 'pipy', 'k6', 'caps')
    const { records, out } = await lie(['--planes', 'pipy', '--cpu', '0.1', '--rate', '3000'])
    expect(records[0].gates.map(g => g.gate)).toEqual(expect.arrayContaining(['knee', 'drops']))
    const [open] = listArms(readSummary(out))
    expect(open.latencyMs?.p99.median).toBeNull()
    expect(open.cpuPerRequestMicros.median).toBeGreaterThan(0)

    const closed = await lie(['--planes', 'pipy', '--cpu', '0.5'])
    expect(closed.stdout).toContain('at saturation, not latencies')
  })
})
