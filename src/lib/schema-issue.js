/**
 * Renders an issue of a schema. If it holds others, as that of a record's key does, the first of them is rendered.
 * @param {Pick<import('zod').core.$ZodIssue, 'message'> & { issues?: import('zod').core.$ZodIssue[] }} issue
 * @returns {string}
 */
export function renderIssue({ message, issues: [nestedIssue] = [] }) {
  if (nestedIssue !== undefined) return renderIssue(nestedIssue)
  return message.replace(/^Invalid input: expected (.*), received undefined$/, 'it is missing: expected $1')
}

/**
 * Validates a value against a schema.
 * @param {import('zod').ZodType} schema
 * @param {unknown} value
 * @returns {string | null} the first error, `path.to.field: words`, of the value itself `it: words`; null: the value is valid
 */
export function findFault(schema, value) {
  const result = schema.safeParse(value)
  if (result.success) return null
  const [issue] = result.error.issues
  return `${issue.path.join('.') || 'it'}: ${renderIssue(issue)}`
}
