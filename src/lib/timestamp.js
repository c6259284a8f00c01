/** Renders the current time in UTC, for names: `20260131-235959`. @returns {string} */
export function renderTimestamp() {
  return new Date().toISOString().slice(0, 19).replace(/[-:]/g, '').replace('T', '-')
}
