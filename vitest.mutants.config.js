import { defineConfig } from 'vitest/config'

/** The tests of the pure parts, which start no process: what mutation testing runs for each mutant. */
export default defineConfig({
  test: {
    include: ['test/{judge,analysis,plan,search}/**/*.test.js', 'test/lib/{stats,steps,confidence-sequence}.test.js'],
  },
})
