/** The version of the records and of summary.json. */
export const SCHEMA_VERSION = 2

/** Raised by whatever makes new numbers incomparable with old ones: the changelog says it under Method. */
export const METHOD_VERSION = 1
