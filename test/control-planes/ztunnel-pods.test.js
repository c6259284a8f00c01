import { readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../../src/lib/paths.js'
import { waitForCondition } from '../../src/lib/wait.js'
import { findOnPath } from '../../src/tools/find.js'
import { makeFolder } from '../fakes/scratch.js'

const SCRIPT = path.join(ROOT, 'src/control-planes/ztunnel/pods.py')
const SOCKET = 'pods.sock'

// The proxy's end, by the numbers of zds.proto: it says hello (field 1), and acknowledges what it gets (field 1, with an
// error in its field 1). It prints each message with the inode of the file that came with it.
const PROXY = `
import os, socket, sys
path, answers = sys.argv[1], sys.argv[2:]
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(path)
s.send(bytes([8, 1]))
for answer in answers:
    message, descriptors, _, _ = socket.recv_fds(s, 1024, 4)
    print(message.hex(), *[os.fstat(d).st_ino for d in descriptors], flush=True)
    error = answer.encode() if answer != "ok" else b""
    s.send(bytes([10, len(error) + 2, 10, len(error)]) + error)
sys.stdin.read()
`

/** @param {string[]} answers of the proxy, in turn @param {{ input: 'pipe' | 'ignore' }} options input: whether the proxy stays */
function start(answers, { input }) {
  const folder = makeFolder('pods')
  const argv = [SCRIPT, SOCKET, '127.0.0.1:0', 'gateway bench gateway', 'ratings-2 bench ratings']
  const handing = execa('python3', argv, {
    cwd: folder,
    env: { POD_NETWORKS: '/proc/self/ns/net:/proc/self/ns/uts' },
    reject: false,
  })
  const proxy = waitForCondition(async () => readdirSync(folder).includes(SOCKET), {
    what: 'the socket',
    deadlineSeconds: 10,
    signal: new AbortController().signal,
  }).then(() => execa('python3', ['-c', PROXY, path.join(folder, SOCKET), ...answers], { stdin: input, reject: false }))
  return { handing, proxy }
}

/** @param {string} name @param {string} account */
const podOf = (name, account) => {
  const bytesOf = (/** @type {number} */ number, /** @type {Buffer} */ content) =>
    Buffer.concat([Buffer.from([number * 8 + 2, content.length]), content])
  const info = Buffer.concat([name, 'bench', account].map((text, i) => bytesOf(i + 1, Buffer.from(text))))
  return bytesOf(1, Buffer.concat([bytesOf(1, Buffer.from(name)), bytesOf(2, info)])).toString('hex')
}

describe('the program that hands pods to ztunnel', () => {
  it('sends each with its namespace and waits for its acknowledgement, then says that it was all', async context => {
    if ((await findOnPath('python3', `${process.env.PATH}`)) === null) context.skip('needs python3')
    const { handing, proxy } = start(['ok', 'ok', 'ok'], { input: 'ignore' })
    const inodes = ['net', 'uts'].map(name => statSync(`/proc/self/ns/${name}`).ino)
    expect((await proxy).stdout.split('\n')).toEqual([
      `${podOf('gateway', 'gateway')} ${inodes[0]}`,
      `${podOf('ratings-2', 'ratings')} ${inodes[1]}`,
      // snapshot_sent, field 3, of no bytes.
      '1a00',
    ])
    expect((await handing).stderr).toBe('ztunnel closed the connection')
  })

  it('ends with what the proxy says of a pod that it refuses', async context => {
    if ((await findOnPath('python3', `${process.env.PATH}`)) === null) context.skip('needs python3')
    const { handing, proxy } = start(['ok', 'failed to start proxy'], { input: 'ignore' })
    await proxy
    expect(await handing).toMatchObject({
      exitCode: 1,
      stderr: 'ztunnel refused ratings-2 bench ratings: failed to start proxy',
    })
  })
})
