import { defineConfig } from 'vitest/config'

// The tests of the pure parts, which mutants are made of. Those that start programs say nothing of a mutant.
export default defineConfig({
  test: {
    include: ['test/{analysis,judge,kinds,lib,plan}/**/*.test.js'],
    exclude: ['test/**/course.test.js'],
    testTimeout: 20_000,
  },
})
