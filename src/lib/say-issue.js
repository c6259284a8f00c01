/** Says what is wrong with a value by a schema. Pure. @param {Pick<import('zod').core.$ZodIssue, 'message'>} issue */
export function sayIssue({ message }) {
  return message.replace(/^Invalid input: expected (.*), received undefined$/, 'it is missing: expected $1')
}

/** Says what is wrong as `path: words`; null: nothing. @param {import('zod').ZodType} schema @param {unknown} value */
export function findFault(schema, value) {
  const result = schema.safeParse(value)
  if (result.success) return null
  const [issue] = result.error.issues
  return `${issue.path.join('.') || 'it'}: ${sayIssue(issue)}`
}
