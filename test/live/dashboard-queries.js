import { readFileSync } from 'node:fs'

const FILE = 'bench/monitoring/grafana-dashboard.json'

/** @returns {any} the dashboard as Grafana reads it */
export function readDashboard() {
  return JSON.parse(readFileSync(FILE, 'utf8'))
}

/**
 * Every query of the dashboard as Prometheus takes it, that of its variable too.
 * @param {{ run?: string, rateInterval?: string }} [options] run: a regular expression, as is chosen for `All`;
 *   rateInterval: as Grafana has it where targets are scraped each second
 * @returns {{ panel: string, expression: string }[]}
 * @throws when the dashboard has a variable that is not known here
 */
export function listDashboardQueries({ run = '.+', rateInterval = '4s' } = {}) {
  const { panels, templating } = readDashboard()
  const panelQueries = panels.flatMap((/** @type {any} */ panel) =>
    (panel.targets ?? []).map((/** @type {any} */ { refId, expr }) => ({ panel: `${panel.title} ${refId}`, expr })),
  )
  const variables = templating.list
    .filter((/** @type {any} */ variable) => variable.type === 'query')
    .map((/** @type {any} */ { name, query }) => ({
      panel: `variable ${name}`,
      expr: query.query.replace(/^label_values\((\w+), (\w+)\)$/, 'group by ($2) ($1)'),
    }))
  return [...variables, ...panelQueries].map(({ panel, expr }) => {
    const expression = expr.replaceAll('$__rate_interval', rateInterval).replaceAll('$run', run)
    if (expression.includes('$')) throw new Error(`${panel} of ${FILE} has another variable: ${expression}`)
    return { panel, expression }
  })
}
