import { defineConfig } from 'vitest/config'

// Integration tests start real services on loopback and share two CPUs: one file at a time.
export default defineConfig({
  test: {
    include: ['test/**/*.test.js'],
    fileParallelism: false,
    testTimeout: 60_000,
    reporters: ['default', './test/skipped-reporter.js'],
  },
})
