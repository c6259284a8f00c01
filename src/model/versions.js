/** The version of the documents of a run. */
export const SCHEMA_VERSION = 4

/** The version before, which old-words.js reads. */
export const OLD_SCHEMA_VERSION = 3

/** Raised by whatever makes new numbers incomparable with old ones: the changelog says it under Method. */
export const METHOD_VERSION = 5
