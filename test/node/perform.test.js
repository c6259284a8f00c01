import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { performActions } from '../../src/node/perform.js'
import { listenInTest } from '../fakes/listen.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('perform-test')
const pidFile = path.join(folder, 'sidecar.pid')
const file = path.join(folder, 'sidecar.conf')
/** @type {{ kind: 'signal', pidFile: string, signal: 'SIGHUP' }} */
const hangUp = { kind: 'signal', pidFile, signal: 'SIGHUP' }

const wait = (/** @type {string} */ cwd) => spawn('sleep', ['60'], { cwd, stdio: 'ignore' })

describe('the steps of a change', () => {
  it('move a file to its place, and then signal the process of that folder', async () => {
    const sidecar = wait(folder)
    writeFileSync(pidFile, `${sidecar.pid}\n`)
    const ended = once(sidecar, 'exit')
    await performActions([{ kind: 'move', file, content: 'new' }, hangUp])
    expect(readFileSync(file, 'utf8')).toBe('new')
    expect(await ended).toEqual([null, 'SIGHUP'])
    await expect(performActions([hangUp])).rejects.toThrow(
      /cannot send SIGHUP: .*sidecar\.pid says "\d+", and no such process/,
    )
  })

  it('send a configuration as UTF-8, and stop at an answer of 300 or above', async () => {
    let body = ''
    const server = http.createServer(async (request, response) => {
      for await (const chunk of request.setEncoding('utf8')) body += chunk
      response.writeHead(request.url === '/load' ? 200 : 400).end('no')
    })
    const endpoint = await listenInTest(server)
    const request = { kind: /** @type {const} */ ('request'), endpoint, method: 'POST', path: '/load', body: 'Łódź' }
    await performActions([request])
    expect(body).toBe('Łódź')
    await expect(performActions([{ ...request, path: '/other' }])).rejects.toThrow('POST /other was answered 400 no')
  })

  it('signal no stranger, who has the number of a sidecar that has ended', async () => {
    const stranger = wait(os.tmpdir())
    writeFileSync(pidFile, `${stranger.pid}`)
    await expect(performActions([hangUp])).rejects.toThrow('no such process runs in its folder')
    expect(stranger.exitCode ?? stranger.signalCode).toBeNull()
    stranger.kill()
  })

  it.each(['', '0', '-1', '1', 'sidecar'])('signal no process if the file says "%s"', async text => {
    writeFileSync(pidFile, text)
    await expect(performActions([hangUp])).rejects.toThrow(`says "${text}"`)
  })

  it('say which file is missing', async () => {
    rmSync(pidFile)
    await expect(performActions([hangUp])).rejects.toThrow(/cannot send SIGHUP: ENOENT.*sidecar\.pid/)
  })
})
