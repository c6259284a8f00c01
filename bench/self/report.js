// Whether the report of a long run is made in time, and stays a page that opens: 2000 trials, made of one that was measured.
import { appendFileSync, copyFileSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { ROOT } from '../../src/lib/paths.js'
import { createFinding, getScratch, runKit } from './kit.js'

const TRIALS = 2000

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function reportLongRun() {
  const { folder, manifest, records } = await runKit(['--cpu', '0.25', '--rounds', '1', '--profile', 'quick'])
  const long = path.join(getScratch(), 'long')
  mkdirSync(path.join(long, 'raw'), { recursive: true })
  const { arms } = manifest
  const rounds = Math.ceil(TRIALS / arms.length)
  writeFileSync(path.join(long, 'manifest.json'), JSON.stringify({ ...manifest, rounds }))
  for (let i = 0; i < TRIALS; i++) {
    const round = 1 + Math.floor(i / arms.length)
    const record = records[i % records.length]
    const id = `r${round}-${record.trial.arm.id}`
    // No two rounds alike, or medians and intervals would cost less to find than they do.
    const load = record.load && { ...record.load, verified: record.load.verified + (i % 97) }
    const trial = { ...record.trial, id, round }
    appendFileSync(path.join(long, 'trials.jsonl'), `${JSON.stringify({ ...record, trial, load })}\n`)
    mkdirSync(path.join(long, 'raw', id))
    copyFileSync(
      path.join(folder, 'raw', record.trial.id, 'samples.jsonl'),
      path.join(long, 'raw', id, 'samples.jsonl'),
    )
  }
  const start = performance.now()
  const { stderr } = await execa(
    '/usr/bin/time',
    ['-f', '%M', process.execPath, 'src/cli.js', 'report', long, '--format', 'html'],
    {
      cwd: ROOT,
    },
  )
  const seconds = (performance.now() - start) / 1000
  const peakMegabytes = (Number(stderr.trim().split('\n').at(-1)) * 1024) / 1e6
  const megabytes = statSync(path.join(long, 'report.html')).size / 1e6
  const lines = readFileSync(path.join(long, 'raw', `r1-${arms[0].id}`, 'samples.jsonl'), 'utf8')
    .trim()
    .split('\n')
  return [
    createFinding(
      `report of ${TRIALS} trials of ${lines.length} samples, seconds, below 10`,
      seconds,
      [seconds],
      s => s < 10,
    ),
    createFinding('its memory at most, MB, below 500', peakMegabytes, [peakMegabytes], m => m < 500),
    createFinding('its page, MB, below 15', megabytes, [megabytes], m => m < 15),
  ]
}
