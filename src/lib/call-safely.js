/**
 * Calls `act` and returns its result, or `otherwise` if it throws.
 * @template T, O
 * @param {() => T} act not async
 * @param {O} otherwise
 */
export function callSafely(act, otherwise) {
  try {
    return act()
  } catch {
    return otherwise
  }
}
