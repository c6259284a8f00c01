/** The version of the records and of summary.json. */
export const SCHEMA_VERSION = 2
