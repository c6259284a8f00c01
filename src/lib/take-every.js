/** Takes every step, also after one that failed; then throws the first error. @param {(() => unknown)[]} steps */
export async function takeEvery(steps) {
  const errors = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      errors.push(error)
    }
  }
  if (errors.length > 0) throw errors[0]
}
