/**
 * Takes every step, also after one that failed: what tears down must not stop halfway.
 * @param {(() => unknown)[]} steps @throws the error of the first step that failed, after the last step
 */
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
