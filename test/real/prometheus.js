import { readFileSync, writeFileSync } from 'node:fs'
import net from 'node:net'
import path from 'node:path'
import { execa } from 'execa'
import { parse, stringify } from 'yaml'
import { findOnPath } from '../../src/tools/find.js'
import { listen } from '../fakes/listen.js'

/**
 * @param {import('vitest').TestContext} context skipped where the program is missing @param {string} name
 * @returns {Promise<string>} its path
 */
export async function needProgram(context, name) {
  const program = await findOnPath(name, process.env.PATH ?? '')
  return program ?? context.skip(`needs ${name}, which is not on PATH`)
}

export async function findFreePort() {
  const server = net.createServer()
  const { port } = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}

/**
 * A real Prometheus with the kit's own configuration.
 * @param {{ program: string, folder: string, metricsPort: number, mostSeconds: number }} options folder: for its
 *   configuration and data; metricsPort: of what it scrapes; mostSeconds: it ends after that
 */
export async function startPrometheus({ program, folder, metricsPort, mostSeconds }) {
  const config = parse(readFileSync('bench/monitoring/prometheus.yml', 'utf8'))
  config.scrape_configs[0].static_configs[0].targets = [`127.0.0.1:${metricsPort}`]
  const file = path.join(folder, 'prometheus.yml')
  writeFileSync(file, stringify(config))
  const address = `127.0.0.1:${await findFreePort()}`
  const argv = [
    `--config.file=${file}`,
    `--storage.tsdb.path=${path.join(folder, 'tsdb')}`,
    `--web.listen-address=${address}`,
  ]
  const running = execa(program, argv, { reject: false, timeout: mostSeconds * 1000, all: true })
  return {
    /** @param {string} expression @returns {Promise<number | null>} null: no answer */
    async countSeries(expression) {
      const url = `http://${address}/api/v1/query?query=${encodeURIComponent(expression)}`
      const answer = await fetch(url, { signal: AbortSignal.timeout(5000) }).catch(() => null)
      return answer?.ok ? /** @type {any} */ (await answer.json()).data.result.length : null
    },
    async stop() {
      running.kill()
      await running
    },
  }
}
