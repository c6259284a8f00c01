/** The version of the documents of a run. */
export const SCHEMA_VERSION = 5

/** The versions before, which old-words.js converts. */
export const OLD_SCHEMA_VERSIONS = [3, 4]

/**
 * The version of the method. A change that makes new numbers incomparable with old ones raises it, and is listed under Method in
 * the changelog.
 */
export const METHOD_VERSION = 5
