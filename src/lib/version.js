/**
 * Says whether a version is at least another, by the parts of `least`: 1.40.0 is at least 1.36. A part that is missing counts as
 * 0.
 * @param {string} version numbers and dots; a part of another form is too low
 * @param {string} least
 * @returns {boolean}
 */
export function isAtLeast(version, least) {
  const [a, b] = [version, least].map(text => text.split('.').map(Number))
  for (let i = 0; i < b.length; i++) {
    if ((a[i] ?? 0) !== b[i]) return (a[i] ?? 0) > b[i]
  }
  return true
}

/**
 * Creates the fields of a tool's spec that accept the versions from `least` on.
 * @param {string} least numbers and dots
 * @returns wanted: the bound in words; isAccepted: says whether a version is within it
 */
export const createVersionBound = least => ({
  wanted: `>= ${least}`,
  isAccepted: (/** @type {string} */ version) => isAtLeast(version, least),
})
