import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { classifyStack, sumCostsBy, sumInclusiveCosts } from '../../src/lab/groups.js'
import { joinStacks, parseProfile, shortenName } from '../../src/lab/profile.js'

const TEXT = `# callgrind format
positions: line
events: Ir
summary: 60

ob=(1) /usr/bin/pipy
fl=(1) ???
fn=(1) pjs::eval(int)'2'pipy::Handle::process(pipy::Event*)'main
0 20
cob=(2) /lib/libc.so.6
cfn=(2) malloc'pjs::eval(int)'pipy::Handle::process(pipy::Event*)'main
calls=3 0
0 30
+4 5

ob=(2)
fn=(2)
0 30

ob=(1)
fn=(3) main
0 5
`

describe("callgrind's output", () => {
  it('gives what each function executed itself, with its callers, and not what it called', () => {
    const { total, stacks } = parseProfile(TEXT)
    expect(total).toBe(60)
    expect(stacks).toEqual([
      { frames: ['pjs::eval', 'pipy::Handle::process', 'main'], object: '/usr/bin/pipy', self: 25 },
      { frames: ['malloc', 'pjs::eval', 'pipy::Handle::process', 'main'], object: '/lib/libc.so.6', self: 30 },
      { frames: ['main'], object: '/usr/bin/pipy', self: 5 },
    ])
    expect(Object.fromEntries(sumInclusiveCosts(stacks))).toEqual({
      'pjs::eval': 55,
      'pipy::Handle::process': 55,
      malloc: 30,
      main: 60,
    })
  })

  it('is summed over several', () => {
    const { stacks } = parseProfile(TEXT)
    expect(joinStacks([...stacks, ...stacks]).map(({ self }) => self)).toEqual([50, 60, 10])
  })

  it('of callgrind 3.19 and Pipy 1.5.18 adds up to its own total, and nearly all of it has a group', () => {
    const text = readFileSync('test/fixtures/callgrind-3.19-pipy-1.5.18.out', 'utf8')
    const { total, stacks } = parseProfile(text)
    expect(total).toBe(Number(/^summary: (\d+)$/m.exec(text)?.[1]))
    const groups = sumCostsBy(stacks, classifyStack)
    expect([...groups.keys()].sort()).toEqual([
      'HTTP decode and encode',
      'TLS',
      'copying and comparing',
      'event loop and sockets',
      'filters and pipelines',
      'memory',
      'other',
      'script interpreter',
    ])
    expect((groups.get('other') ?? 0) / total).toBeLessThan(0.15)
  })
})

describe('the name of a function', () => {
  it.each([
    ['pipy::Data::push(pipy::Data const&)', 'pipy::Data::push'],
    ['void asio::detail::f<int, std::pair<a, b> >(int)', 'asio::detail::f'],
    ['std::_Function_handler<bool (int), pipy::A::b(int)::$_0>::_M_invoke(int&&)', 'std::_Function_handler::_M_invoke'],
    ['pjs::Ref<pjs::Str>::operator=(pjs::Str*)', 'pjs::Ref::operator='],
    ['operator new(unsigned long)', 'operator new'],
    ['a::operator<<(int)', 'a::operator'],
    ['pipy::(anonymous namespace)::f() const', 'pipy::anonymous::f'],
    ['write@@GLIBC_2.2.5', 'write'],
    ['aesni_ctr32_encrypt_blocks', 'aesni_ctr32_encrypt_blocks'],
  ])('%s is shortened to %s', (name, short) => expect(shortenName(name)).toBe(short))
})

it.each([
  ['memory', 'malloc'],
  ['TLS', 'SSL_read aesni_ctr32_encrypt_blocks WPACKET_put_bytes__ ssl3_read_bytes __ecp_nistz256_mul_montq'],
  ['other', 'tolower yajl_lex_lex inflate_fast sqlite3VdbeExec __tls_get_addr __tls_init main'],
])('the group %s has, if no caller is known: %s', (group, names) => {
  for (const name of names.split(' ')) expect(classifyStack({ frames: [name] }), name).toBe(group)
})

it.each([
  ['std::_Hash_bytes', 'pjs::Str::make', 'script interpreter'],
  ['yajl_lex_lex', 'pjs::JSON::parse', 'script interpreter'],
  ['inflate_fast', 'pipy::DecompressorImpl::process', 'filters and pipelines'],
  ['mem_read', 'bio_read_intern', 'TLS'],
])('library code works for its caller: %s for %s', (name, caller, group) => {
  expect(classifyStack({ frames: [name, caller] })).toBe(group)
})
