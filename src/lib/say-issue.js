/** Says what is wrong with a value, or with a key of a record, by a schema. Pure. @param {Pick<import('zod').core.$ZodIssue, 'message'> & { issues?: import('zod').core.$ZodIssue[] }} issue */
export function sayIssue({ message, issues: [ofKey] = [] }) {
  if (ofKey !== undefined) return sayIssue(ofKey)
  return message.replace(/^Invalid input: expected (.*), received undefined$/, 'it is missing: expected $1')
}

/** Says what is wrong as `path: words`; null: nothing. @param {import('zod').ZodType} schema @param {unknown} value */
export function findFault(schema, value) {
  const result = schema.safeParse(value)
  if (result.success) return null
  const [issue] = result.error.issues
  return `${issue.path.join('.') || 'it'}: ${sayIssue(issue)}`
}
