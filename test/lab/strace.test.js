import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createCallCounter, PURPOSES, parseCalls, sumCalls } from '../../src/lab/strace.js'
import { makeFolder } from '../fakes/scratch.js'

// Lines as strace 6.1 writes them of a Pipy with two threads.
const TEXT = `901 epoll_wait(5, [{events=EPOLLIN, data={u32=1, u64=1}}], 128, -1) = 1
901 recvmsg(14, {msg_name=NULL, msg_iov=[{iov_base=""..., iov_len=4096}], msg_iovlen=1, msg_flags=0}, 0) = 1170
901 recvmsg(14, {msg_name=NULL}, 0) = -1 EAGAIN (Resource temporarily unavailable)
902 futex(0x7f1c, FUTEX_WAIT_PRIVATE, 0, NULL <unfinished ...>
901 sendmsg(15, {msg_iov=[{iov_base=""..., iov_len=1192}], msg_iovlen=1}, MSG_NOSIGNAL) = 1192
902 <... futex resumed>)             = 0
901 mmap(NULL, 8192, PROT_READ, MAP_PRIVATE, -1, 0) = 0x7f2000
902 exit(0) = ?
`

it('system calls are counted by name, with the bytes that they carried', () => {
  const kinds = parseCalls(TEXT)
  expect(Object.fromEntries(kinds)).toEqual({
    epoll_wait: { calls: 1, bytes: 0 },
    recvmsg: { calls: 2, bytes: 1170 },
    futex: { calls: 1, bytes: 0 },
    sendmsg: { calls: 1, bytes: 1192 },
    mmap: { calls: 1, bytes: 0 },
    exit: { calls: 1, bytes: 0 },
  })
  expect(sumCalls(kinds)).toBe(7)
  expect(sumCalls(kinds, PURPOSES.receive)).toBe(2)
})

it('a count is of what was written since the last one, and a line that is not whole is of the next', async () => {
  const folder = path.join(makeFolder('strace-test'), 'client')
  mkdirSync(folder)
  const write = (/** @type {string} */ text) => writeFileSync(path.join(folder, 'strace.out'), text, { flag: 'a' })
  const counter = createCallCounter({ folder })
  write('901 read(3, ""..., 1) = 1\n901 write(4, ')
  expect([...(await counter.take()).keys()]).toEqual(['read'])
  write('""..., 9) = 9\n')
  expect([...(await counter.take())]).toEqual([['write', { calls: 1, bytes: 9 }]])
  expect((await counter.take()).size).toBe(0)
})
