/** Does something; returns `otherwise` where it throws. @template T, O @param {() => T} act @param {O} otherwise */
export function safely(act, otherwise) {
  try {
    return act()
  } catch {
    return otherwise
  }
}
