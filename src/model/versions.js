/** The version of the documents of a run. */
export const SCHEMA_VERSION = 5

/** The versions before, which old-words.js reads. */
export const OLD_SCHEMA_VERSIONS = [3, 4]

/** Raised by whatever makes new numbers incomparable with old ones: the changelog says it under Method. */
export const METHOD_VERSION = 5
