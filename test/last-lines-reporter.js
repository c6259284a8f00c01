import { groupBy } from '../src/lib/group-by.js'

/** The last lines of a test run: what was skipped, by reason, since a missing tool is never silent; what passed at the second try only; and what failed, and how. */
export default class LastLinesReporter {
  /** Says at once what failed, and how: the end of all tests may be half an hour away. @param {import('vitest/node').TestCase} test */
  onTestCaseResult(test) {
    if (test.result().state === 'failed') console.log(`FAILED NOW: ${formatTestName(test)}: ${messagesOf(test)}`)
  }

  /** @param {ReadonlyArray<import('vitest/node').TestModule>} modules */
  onTestRunEnd(modules) {
    const tests = modules.flatMap(module => [...module.children.allTests()])
    const listOf = (/** @type {string} */ state) => tests.filter(test => test.result().state === state)
    const byReason = groupBy(listOf('skipped'), test => /** @type {any} */ (test.result()).note ?? 'no reason given')
    for (const [reason, skipped] of byReason)
      console.log(`SKIPPED: ${reason}: ${skipped.map(test => test.fullName).join('; ')}`)
    // An import or a hook may have failed, too.
    for (const part of modules.flatMap(module => [module, ...module.children.allSuites()])) {
      for (const { message } of part.errors()) console.log(`FAILED: ${formatTestName(part)}: ${shorten(message)}`)
    }
    for (const test of listOf('passed').filter(t => t.diagnostic()?.flaky)) {
      console.log(`PASSED AT THE SECOND TRY: ${formatTestName(test)}: ${messagesOf(test)}`)
    }
    for (const test of listOf('failed')) {
      console.log(`FAILED: ${formatTestName(test)}: ${messagesOf(test)}`)
    }
    const [passed, failed, skipped] = ['passed', 'failed', 'skipped'].map(state => listOf(state).length)
    console.log(`${passed} passed, ${failed} failed, ${skipped} skipped`)
  }
}

/** @param {import('vitest/node').TestModule | import('vitest/node').TestSuite | import('vitest/node').TestCase} part */
function formatTestName(part) {
  return part.type === 'module' ? part.relativeModuleId : `${part.module.relativeModuleId} > ${part.fullName}`
}

/** What was got is cut short in a message of `expect`, so it follows whole. @param {import('vitest/node').TestCase} test */
function messagesOf(test) {
  return (test.result().errors ?? [])
    .map(({ message, actual }) => shorten(typeof actual === 'string' ? `${message}, got ${actual}` : message))
    .join('; ')
}

/** @param {string} message */
function shorten(message) {
  return message.length > 1500 ? `${message.slice(0, 1500)} …` : message
}
