import { execFileSync, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { waitForCondition } from '../../src/lib/wait.js'
import { readProcFile } from '../../src/node/kernel/proc-files.js'
import { findOnPath } from '../../src/tools/find.js'

/**
 * Two machines, as far as the network knows: two network namespaces with a wire between them (veth(4)), and an sshd in
 * the one that is called `there`.
 */

const PORT = 2222
const SSHD = '/usr/sbin/sshd'
const NEEDED = ['ip', 'nsenter', 'ssh', 'ssh-keygen']

/** @typedef {Awaited<ReturnType<typeof openTwoMachines>>} TwoMachines */

/** What is missing for them; none where they can be made. */
export async function findMissing() {
  const find = (/** @type {string} */ name) => findOnPath(name, `${process.env.PATH}`)
  const paths = await Promise.all([findOnPath('sshd', path.dirname(SSHD)), ...NEEDED.map(find)])
  const missing = ['sshd', ...NEEDED].filter((_, i) => paths[i] === null)
  return process.getuid?.() === 0 ? missing : ['root', ...missing]
}

export async function openTwoMachines() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'two-machines-'))
  const id = process.pid % 10_000
  const [here, there] = [`here-${id}`, `there-${id}`]
  const [address, farAddress] = [`10.219.${id % 250}.1`, `10.219.${id % 250}.2`]
  const unreachable = '10.220.0.1'
  const ip = (/** @type {string} */ words) => execFileSync('ip', words.split(' '))
  for (const name of [here, there]) ip(`netns add ${name}`)
  ip(`link add wire-${id}a netns ${here} type veth peer name wire-${id}b netns ${there}`)
  ip(`-n ${here} addr add ${address}/30 dev wire-${id}a`)
  ip(`-n ${there} addr add ${farAddress}/30 dev wire-${id}b`)
  ip(`-n ${here} addr add ${unreachable}/32 dev lo`)
  for (const [name, device] of [
    [here, 'lo'],
    [there, 'lo'],
    [here, `wire-${id}a`],
    [there, `wire-${id}b`],
  ])
    ip(`-n ${name} link set ${device} up`)

  const file = (/** @type {string} */ name) => path.join(folder, name)
  for (const name of ['host', 'user', 'other'])
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', file(name)])
  const publicKey = (/** @type {string} */ name) => readFileSync(file(`${name}.pub`), 'utf8')
  writeFileSync(file('authorized'), publicKey('user'))
  for (const [known, key] of [
    ['known', 'host'],
    ['changed', 'other'],
  ])
    writeFileSync(file(known), `[${farAddress}]:${PORT} ${publicKey(key).split(' ').slice(0, 2).join(' ')}\n`)
  const hosts = [
    { name: 'there', key: 'user', known: 'known' },
    { name: 'there-changed', key: 'user', known: 'changed' },
    { name: 'there-unknown', key: 'user', known: 'empty' },
    { name: 'there-without-key', key: 'other', known: 'known' },
  ]
  writeFileSync(
    file('config'),
    hosts
      .map(
        ({ name, key, known }) =>
          `Host ${name}\n  HostName ${farAddress}\n  Port ${PORT}\n  IdentityFile ${file(key)}\n  IdentitiesOnly yes\n  UserKnownHostsFile ${file(known)}\n`,
      )
      .join(''),
  )
  writeFileSync(
    file('sshd'),
    [
      ...[`Port ${PORT}`, `ListenAddress ${farAddress}`, `HostKey ${file('host')}`, 'PidFile none', 'StrictModes no'],
      ...[`AuthorizedKeysFile ${file('authorized')}`, 'PasswordAuthentication no', 'PermitRootLogin prohibit-password'],
      `SetEnv XDG_CACHE_HOME=${file('cache')} TMPDIR=${file('tmp')}`,
    ].join('\n'),
  )
  for (const name of ['bin', 'cache', 'tmp']) mkdirSync(file(name))
  // ssh reads its user's own configuration, whatever HOME says.
  writeFileSync(
    file('bin/ssh'),
    `#!/bin/sh\nexec ${await findOnPath('ssh', `${process.env.PATH}`)} -F ${file('config')} "$@"\n`,
    { mode: 0o755 },
  )
  // Its privilege separation needs the folder.
  if (!existsSync('/run/sshd')) mkdirSync('/run/sshd', { mode: 0o755 })
  const sshd = spawn('nsenter', [`--net=/run/netns/${there}`, SSHD, '-D', '-e', '-f', file('sshd')], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  sshd.stderr.on('data', text => {
    said += text
  })
  await waitForCondition(() => said.includes('listening'), { what: `sshd to listen (${said})`, deadlineSeconds: 10 })

  const pidsIn = (/** @type {string} */ name) =>
    execFileSync('ip', ['netns', 'pids', name], { encoding: 'utf8' }).split('\n').filter(Boolean).map(Number)
  const readProcess = (/** @type {number} */ pid) => ({
    pid,
    command: readProcFile(`/proc/${pid}/cmdline`).replaceAll('\0', ' ').trim(),
  })
  return {
    folder,
    address,
    unreachable,
    /** Where the far machine keeps temporary files. */
    temporary: file('tmp'),

    /** Runs the kit on the near machine. @param {string[]} argv */
    run: argv =>
      execa('nsenter', [`--net=/run/netns/${here}`, 'node', 'src/cli.js', ...argv], {
        ...{ reject: false, env: { PATH: `${file('bin')}:${process.env.PATH}` } },
      }),

    /** As a cable that is pulled, or put in again: nothing is said to either end. */
    setWire: (/** @type {'up' | 'down'} */ state) => ip(`-n ${there} link set wire-${id}b ${state}`),

    listHere: () => pidsIn(here).map(readProcess),
    /** But sshd that listens. */
    listThere: () =>
      pidsIn(there)
        .filter(pid => pid !== sshd.pid)
        .map(readProcess),

    close() {
      for (const pid of [...pidsIn(here), ...pidsIn(there)]) process.kill(pid, 'SIGKILL')
      for (const name of [here, there]) ip(`netns del ${name}`)
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
