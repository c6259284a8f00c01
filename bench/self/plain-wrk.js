// wrk as anybody starts it by hand: one process for each turn, one constant request, no check of answers. Run by bias.js as
// a load generator: it announces a window, runs its turns within it, and prints how many requests each arm answered.
import { execFileSync } from 'node:child_process'
import { setTimeout as wait } from 'node:timers/promises'

const MARGIN_MS = 200
const { program, script, urls, order, users, turnMs, warmupMs, windowMs, tailMs } = JSON.parse(process.argv[2])

const startMs = Date.now() + warmupMs
const endMs = startMs + windowMs
console.log(`window ${startMs} ${endMs}`)
const counts = urls.map(() => 0)
const seconds = urls.map(() => 0)

for (const place of urls.keys()) drive(place, Math.max(1000, Math.floor(warmupMs / urls.length / 1000) * 1000))
await wait(Math.max(0, startMs + MARGIN_MS - Date.now()))
for (let turn = 0; Date.now() + turnMs + MARGIN_MS < endMs; turn++) {
  const place = Number(order[turn % order.length])
  counts[place] += drive(place, turnMs)
  seconds[place] += turnMs / 1000
}
await wait(Math.max(0, endMs + tailMs - Date.now()))
console.log(`plain ${JSON.stringify({ counts, seconds })}`)

/** @param {number} place @param {number} ms whole seconds */
function drive(place, ms) {
  const text = execFileSync(program, ['-t1', `-c${users}`, `-d${ms / 1000}s`, '-s', script, urls[place]], {
    encoding: 'utf8',
  })
  if (/Non-2xx|Socket errors/.test(text)) throw new Error(`wrk saw failures at ${urls[place]}: ${text}`)
  return Number(/(\d+) requests in /.exec(text)?.[1])
}
