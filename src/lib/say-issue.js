/** Says what is wrong with a value by a schema. Pure. @param {Pick<import('zod').core.$ZodIssue, 'message'>} issue */
export function sayIssue({ message }) {
  return message.replace(/^Invalid input: expected (.*), received undefined$/, 'it is missing: expected $1')
}
