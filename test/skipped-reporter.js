/** Counts and names what was skipped, and why: a missing tool is never silent. */
export default class SkippedReporter {
  /** @param {ReadonlyArray<import('vitest/node').TestModule>} modules */
  onTestRunEnd(modules) {
    const tests = modules.flatMap(module => [...module.children.allTests()])
    const count = (/** @type {string} */ state) => tests.filter(test => test.result().state === state).length
    for (const test of tests.filter(t => t.result().state === 'skipped')) {
      console.log(`SKIPPED: ${test.fullName}: ${/** @type {any} */ (test.result()).note ?? 'no reason given'}`)
    }
    console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`)
  }
}
