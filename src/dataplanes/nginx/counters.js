/**
 * Counts connections that nginx took and closed at once because a worker had as many as it may: those of its listeners
 * (ngx_http_stub_status_module, "accepts" and "handled").
 * @param {string} text what stub_status answers
 */
export function parseOverflows(text) {
  const [, accepts, handled] = /^ (\d{1,15}) (\d{1,15}) \d/m.exec(text) ?? []
  return accepts === undefined ? 0 : Number(accepts) - Number(handled)
}
