/**
 * What ssh says where it makes no connection, and what a person can do.
 * @type {{ said: RegExp, why: string, advice: (host: string) => string }[]}
 */
const REFUSALS = [
  {
    said: /^ENOENT$/,
    why: 'there is no ssh here',
    advice: () => 'install the OpenSSH client (apt install openssh-client)',
  },
  {
    said: /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key for .* has changed/,
    why: 'its host key is another than the one that ssh knows',
    advice: host => `if that is right, forget the old one with ssh-keygen -R, and accept the new one with: ssh ${host}`,
  },
  {
    said: /Host key verification failed|No .* host key is known/,
    why: 'ssh does not know its host key',
    advice: host => `look at it, and accept it with: ssh ${host}`,
  },
  {
    said: /Permission denied|Too many authentication failures/,
    why: 'it accepts none of the keys that ssh has without asking',
    advice: host => `give it one with ssh-copy-id ${host}, or unlock yours with ssh-add`,
  },
  {
    said: /Could not resolve hostname/,
    why: 'its name is unknown',
    advice: () => 'name it as in ssh, or give it an address in ~/.ssh/config',
  },
  {
    said: /Connection refused|timed out|No route to host|Network is unreachable/,
    why: 'it cannot be reached',
    advice: host => `see that sshd runs there, and try: ssh ${host}`,
  },
]

/** Why there is no connection, in a sentence with what to do. @param {string} host @param {string} said by ssh */
export function describeRefusal(host, said) {
  const known = REFUSALS.find(refusal => refusal.said.test(said))
  const what = `--load-host ${host}: no connection`
  const quoted = said && said !== 'ENOENT' ? ` (ssh says: ${said})` : ''
  if (!known) return `${what}${quoted}: it needs a POSIX shell and a folder for temporary files there; try: ssh ${host}`
  return `${what}, ${known.why}${quoted}: ${known.advice(host)}`
}
