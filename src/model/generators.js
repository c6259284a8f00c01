/** The programs that can make the load; the first is the default. */
export const GENERATORS = ['k6', 'wrk']

/** Finds the generator that made a run's load, by its tools. @param {{ tools: Record<string, unknown> }} run */
export function generatorOf({ tools }) {
  return GENERATORS.find(name => name in tools) ?? null
}
