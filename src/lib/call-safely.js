/**
 * Calls `act`, and catches any error of it.
 * @template T, O
 * @param {() => T} act not async
 * @param {O} otherwise
 * @returns {T | O} the result of `act`; `otherwise`: it threw
 */
export function callSafely(act, otherwise) {
  try {
    return act()
  } catch {
    return otherwise
  }
}
