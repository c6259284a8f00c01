import os from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { locateCacheFolder } from '../../src/lib/paths.js'

describe('cacheFolder', () => {
  const before = { ...process.env }
  beforeEach(() => {
    process.env.HOME = '/home/me'
    delete process.env.SIDECAR_BENCH_CACHE
    delete process.env.XDG_CACHE_HOME
  })
  afterEach(() => {
    for (const name of ['HOME', 'SIDECAR_BENCH_CACHE', 'XDG_CACHE_HOME']) delete process.env[name]
    Object.assign(process.env, before)
  })
  const usual = '/home/me/.cache/sidecar-bench'

  it('is an absolute path, also where the variable names one below the current folder', () => {
    process.env.SIDECAR_BENCH_CACHE = 'cache'
    expect(locateCacheFolder()).toBe(path.resolve('cache'))
  })

  it('is there for a user without a home and without an entry in passwd(5)', () => {
    process.env.HOME = ''
    const userInfo = vi.spyOn(os, 'userInfo').mockImplementation(() => {
      throw new Error('uv_os_get_passwd returned ENOENT')
    })
    vi.spyOn(os, 'homedir').mockImplementation(() => {
      throw new Error('uv_os_homedir returned ENOENT')
    })
    expect(locateCacheFolder()).toBe(path.join(os.tmpdir(), '.cache/sidecar-bench'))
    expect(userInfo).toHaveBeenCalled()
    vi.restoreAllMocks()
  })

  it('takes an empty variable for one that is unset', () => {
    Object.assign(process.env, { SIDECAR_BENCH_CACHE: '', XDG_CACHE_HOME: '' })
    expect(locateCacheFolder()).toBe(usual)
    process.env.XDG_CACHE_HOME = '/var/cache'
    expect(locateCacheFolder()).toBe('/var/cache/sidecar-bench')
  })

  it('is in the home of the user if HOME is empty', () => {
    process.env.HOME = ''
    expect(locateCacheFolder()).toBe(path.join(os.userInfo().homedir, '.cache', 'sidecar-bench'))
  })
})
