import assert from 'node:assert/strict'
import { request } from 'node:http'
import { connect } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { DashboardServer, type DashboardSource, type Frame } from '../../../src/dashboard/index.ts'
import { PageMap } from '../../../src/dashboard/page-map.ts'
import { STREAMS_MAX } from '../../../src/dashboard/server/live-routes.ts'
import { directory, PAGE_ENTRY_BYTES } from '../../../src/dsm/index.ts'
import { until } from '../../cluster/support.ts'
import { type Answer, ask as askServer } from '../../support/ask.ts'

const TOKEN = 'a-token-of-a-test'

/** A space that is always the same, with one line of log a look. */
class StillSpace implements DashboardSource {
  readonly map: PageMap = new PageMap(1000, directory)
  looks = 0
  closed = false
  /** So long is each line of the log. */
  lineBytes = 10

  look(): Frame {
    this.looks += 1
    const nothing = {
      members: [],
      links: [],
      operations: [],
      regions: [],
      structures: [],
      structureMemory: [],
      machines: [],
      indexes: [],
      arrays: { arrays: [], moved: [] },
      histograms: [],
    }
    const log = [{ atMs: this.looks, kind: 'note' as const, text: `${this.looks} `.padEnd(this.lineBytes, '.') }]
    return { atMs: this.looks, space: 'still', epoch: 1, running: true, ...nothing, log, lostEvents: 0 }
  }

  pages(region: string): PageMap | undefined {
    return region === 'grid' ? this.map : undefined
  }

  page(region: string): undefined {
    if (region === 'broken') throw new RangeError('out of range')
    return undefined
  }

  close(): void {
    this.closed = true
  }
}

describe('the server of the dashboard', () => {
  const space = new StillSpace()
  let server: DashboardServer
  let port: number

  before(async () => {
    server = await DashboardServer.start({
      source: space,
      token: TOKEN,
      metrics: () => 'one 1\n',
      names: ['space.example.org'],
    })
    port = Number(new URL(server.url).port)
  })
  after(async () => {
    await server.close()
    assert.ok(space.closed)
  })

  /** Ask, with the token unless it is said otherwise. */
  function ask(path: string, headers: Record<string, string> = {}, method = 'GET', body?: string): Promise<Answer> {
    const all = { Authorization: `Bearer ${TOKEN}`, ...headers }
    return askServer(port, path, { headers: all, method, ...(body !== undefined && { body }) })
  }

  /** What comes back for bytes that are no request. */
  function say(bytes: string): Promise<string> {
    return new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
      let text = ''
      socket.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
      socket.on('error', () => {})
      socket.on('close', () => resolve(text))
    })
  }

  test('goes on when an answer cannot be made, and says so to who asked', async () => {
    const broken = await ask('/page?region=broken&page=0')
    assert.equal(broken.status, 500)
    assert.match(broken.text, /out of range/)
    assert.equal((await ask('/')).status, 200)
  })

  test('gives the page and its parts, each with its type, and lets nothing in from elsewhere', async () => {
    const page = await ask('/')
    assert.equal(page.status, 200)
    assert.match(page.headers['content-type'] ?? '', /^text\/html/)
    assert.match(page.text, /\/main\.js/)
    const policy = String(page.headers['content-security-policy'])
    assert.match(policy, /default-src 'none'; script-src 'self'/)
    assert.doesNotMatch(policy, /unsafe|\*|https?:/)
    assert.equal(page.headers['x-content-type-options'], 'nosniff')
    const script = await ask('/main.js')
    assert.match(script.headers['content-type'] ?? '', /^text\/javascript/)
    assert.doesNotMatch(page.text + script.text, /https?:\/\//)
    assert.equal((await ask('/style.css')).status, 200)
    assert.equal((await ask('/metrics')).text, 'one 1\n')
  })

  test('refuses who has no token, or a wrong one', async () => {
    assert.equal((await ask('/', { Authorization: '' })).status, 401)
    assert.equal((await ask('/', { Authorization: 'Bearer wrong' })).status, 401)
    assert.equal((await ask('/', { Authorization: `Bearer ${TOKEN}x` })).status, 401)
    assert.equal((await ask('/events', { Authorization: '', Cookie: `aether-${port}=wrong` })).status, 401)
    assert.equal((await ask('/?token=wrong', { Authorization: '' })).status, 401)
    assert.equal((await ask('/metrics', { Authorization: '' })).status, 401)
  })

  test('takes the token once from the address, and from then on from a cookie that no script reads', async () => {
    const shown = await ask(`/?token=${TOKEN}`, { Authorization: '' })
    assert.equal(shown.status, 303)
    assert.equal(shown.headers.location, '/')
    const [cookie = ''] = shown.headers['set-cookie'] ?? []
    assert.match(cookie, /HttpOnly; SameSite=Strict/)
    assert.equal((await ask('/', { Authorization: '', Cookie: `other=1; ${cookie.split(';')[0]}` })).status, 200)
  })

  test('keeps no token in the cookie, which other servers of the machine may get, but what only this server takes', async () => {
    const [cookie = ''] = (await ask(`/?token=${TOKEN}`, { Authorization: '' })).headers['set-cookie'] ?? []
    assert.ok(!cookie.includes(TOKEN), cookie)
    assert.equal((await ask('/', { Authorization: '', Cookie: `aether-${port}=${TOKEN}` })).status, 401)
    const value = /^aether-\d+=([\w-]{32,});/.exec(cookie)?.[1]
    assert.equal((await ask('/', { Authorization: `Bearer ${value}` })).status, 401, 'it is no token')
    assert.equal((await ask(`/?token=${value}`, { Authorization: '' })).status, 401)
    const other = await DashboardServer.start({ source: new StillSpace(), token: TOKEN })
    const otherPort = Number(new URL(other.url).port)
    const headers = { Cookie: `aether-${otherPort}=${value}` }
    assert.equal((await askServer(otherPort, '/', { headers })).status, 401, 'of another server of the same token')
    await other.close()
  })

  test('is opened though a browser has cookies of many servers before it, which last a day', async () => {
    const [cookie = ''] = (await ask(`/?token=${TOKEN}`, { Authorization: '' })).headers['set-cookie'] ?? []
    assert.match(cookie, /; Max-Age=86400(;|$)/)
    const others = Array.from({ length: 500 }, (_, index) => `aether-${30_000 + index}=${'x'.repeat(32)}`)
    const all = [...others, cookie.split(';')[0]].join('; ')
    assert.equal((await ask('/', { Authorization: '', Cookie: all })).status, 200)
  })

  test('a wrong token in the address does not take the place of the good one in the cookie', async () => {
    const [set = ''] = (await ask(`/?token=${TOKEN}`, { Authorization: '' })).headers['set-cookie'] ?? []
    const [cookie = ''] = set.split(';')
    for (const wrong of ['wrong', '%0a', '']) {
      const shown = await ask(`/?token=${wrong}`, { Authorization: '', Cookie: cookie })
      assert.deepEqual([shown.status, shown.headers.location], [303, '/'])
      assert.equal(shown.headers['set-cookie'], undefined)
    }
    assert.equal((await ask('/', { Authorization: '', Cookie: cookie })).status, 200)
  })

  test('refuses foreign hosts and origins, also with the token', async () => {
    for (const host of [
      'evil.example',
      `evil.example:${port}`,
      '127.0.0.1',
      '127.0.0.1:1',
      `10.0.0.1:${port}`,
      `[::2]:${port}`,
    ])
      assert.equal((await ask('/', { Host: host })).status, 421, host)
    for (const host of ['.localhost', 'evil-localhost', 'localhost.evil.example', 'a..localhost'])
      assert.equal((await ask('/', { Host: `${host}:${port}` })).status, 421, host)
    const own = `mine-7f3a.localhost:${port}`
    for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `[::1]:${port}`, own, 'space.example.org'])
      assert.equal((await ask('/', { Host: host })).status, 200, host)
    assert.equal((await ask('/events', { Origin: 'http://evil.example' })).status, 403)
    assert.equal((await ask('/events', { Origin: 'null' })).status, 403)
    assert.equal(
      (await ask('/page?page=1', { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors' })).status,
      403,
    )
    assert.equal((await ask('/', { Origin: `http://127.0.0.1:${port}` })).status, 200)
  })

  test('refuses what is too large, or no request, or no question', async () => {
    assert.equal((await ask('/', {}, 'POST')).status, 405)
    assert.equal((await ask('/', {}, 'PUT')).status, 405)
    assert.equal((await ask('/', { 'Content-Length': '5' }, 'GET', 'hello')).status, 413)
    assert.equal((await ask(`/?${'a'.repeat(3000)}`)).status, 414)
    assert.equal((await ask('/', { 'X-Long': 'a'.repeat(70_000) })).status, 431)
    assert.match(await say('hello\r\n\r\n'), /^HTTP\/1\.1 400 /)
    assert.match(await say('GET / HTTP/1.1\r\n\r\n'), /^HTTP\/1\.1 (400|421) /)
    assert.match(await say('GET / HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n'), /^HTTP\/1\.1 421 /)
    assert.equal((await ask('//evil.example/')).status, 400)
    for (const path of ['/../package.json', '/%2e%2e/package.json', '/main.js.map', '/main.ts', '/nothing'])
      assert.equal((await ask(path)).status, 404, path)
    for (const page of ['', '-1', '1e3', 'a', '99999999999'])
      assert.equal((await ask(`/page?region=grid&page=${page}`)).status, 400, page)
    assert.equal((await ask('/page?region=grid&page=3')).status, 404)
  })

  test('has no other protocol to offer, and hangs on nothing that is half a request', async () => {
    const auth = `Authorization: Bearer ${TOKEN}\r\n`
    const host = `Host: 127.0.0.1:${port}\r\n`
    const socket = `${host}${auth}Connection: Upgrade, close\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`
    // What follows is a WebSocket frame that claims to be 2^63 bytes long.
    const frame = '\x81\xff\x7f\xff\xff\xff\xff\xff\xff\xff\x00\x00\x00\x00'
    assert.doesNotMatch(await say(`GET /events HTTP/1.1\r\nOrigin: http://evil.example\r\n${socket}${frame}`), / 101 /)
    assert.doesNotMatch(await say(`GET /session HTTP/1.1\r\n${socket}${frame}`), / 101 /)
    assert.doesNotMatch(await say(`CONNECT evil.example:80 HTTP/1.1\r\n${host}${auth}\r\n`), / 200 /)
    const chunked = `POST /session HTTP/1.1\r\n${host}${auth}Transfer-Encoding: chunked\r\n\r\nffffffff\r\n`
    assert.match(await say(chunked), /^HTTP\/1\.1 405 /)
    assert.match(await say(chunked.replace('POST', 'GET')), /^HTTP\/1\.1 413 /)
    assert.match(await say(`GET /\0/x HTTP/1.1\r\n${host}${auth}\r\n`), /^HTTP\/1\.1 400 /)
    const both = `GET / HTTP/1.1\r\n${host}${auth}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n`
    assert.match(await say(both), /^HTTP\/1\.1 4\d\d /)
    for (const path of [
      '/..%2f..%2fpackage.json',
      '/%5c..%5cpackage.json',
      '/style.css/..%2f..',
      '/%00',
      '/constructor',
    ])
      assert.equal((await ask(path)).status, 404, path)
    assert.equal((await ask('/session')).text, '{"kind":"live"}')
    assert.equal((await ask('/part?number=0')).status, 404, 'a server of what runs has no parts')
  })

  test('looks only while a page listens, and tells what changed', async () => {
    await until(() => server.streams === 0, 'nobody listens')
    const { looks } = space
    await new Promise((resolve) => setTimeout(resolve, 500))
    assert.equal(space.looks, looks)
    const stream = listen('/events?region=grid')
    await until(() => stream.text.includes('event: frame') && stream.text.includes('"isNew":true'), 'it hears')
    const entries = new DataView(new ArrayBuffer(256 * PAGE_ENTRY_BYTES))
    entries.setUint8(0, 1 + Object.keys(directory.cache.states).indexOf('M'))
    space.map.take(2, 0, entries)
    await until(() => /"blocks":\[\[0,"/.test(stream.text), 'the block that changed is told')
    const [, states = ''] = /"blocks":\[\[0,"([^"]+)"/.exec(stream.text) ?? []
    assert.equal(Buffer.from(states, 'base64').readUInt16LE(0), 4 + 16 * 3)
    stream.close()
    await until(() => server.streams === 0, 'nobody listens')
  })

  test('lets only so many listen', async () => {
    const streams = Array.from({ length: STREAMS_MAX }, () => listen('/events'))
    await until(() => server.streams === STREAMS_MAX, 'all listen')
    assert.equal((await ask('/events')).status, 503)
    for (const stream of streams) stream.close()
    await until(() => server.streams === 0, 'nobody listens')
  })

  test('keeps nothing for a page that does not read', async () => {
    space.lineBytes = 1_000_000
    const deaf = listen('/events')
    deaf.pause()
    const { looks } = space
    await until(() => space.looks > looks + 20, 'twenty looks')
    const { pendingBytes, skipped } = server.slowest
    assert.ok(skipped > 0, 'frames pass it by')
    assert.ok(pendingBytes < 4 * 1_000_000, `${pendingBytes} bytes are kept`)
    space.lineBytes = 10
    deaf.close()
    await until(() => server.streams === 0, 'nobody listens')
  })

  /** A page that listens. */
  function listen(path: string) {
    let text = ''
    const headers = { Authorization: `Bearer ${TOKEN}` }
    const sent = request({ port, host: '127.0.0.1', path, headers, agent: false })
    let isPaused = false
    sent.on('response', (response) => {
      if (isPaused) response.pause()
      else response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
    })
    sent.on('error', () => {})
    sent.end()
    return {
      get text(): string {
        return text
      },
      pause(): void {
        isPaused = true
      },
      close: (): void => void sent.destroy(),
    }
  }
})

test('beyond loopback a token is needed, and it is none that somebody would guess', async () => {
  const source = new StillSpace()
  await assert.rejects(DashboardServer.start({ source, host: '0.0.0.0', token: null }), {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
  })
  await assert.rejects(DashboardServer.start({ source, token: 'short' }), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  await assert.rejects(DashboardServer.start({ source, token: 'with space in it' }), {
    code: 'ERR_AETHER_INVALID_ARGUMENT',
  })
  const [first, second] = [await DashboardServer.start({ source }), await DashboardServer.start({ source })]
  const tokens = [first, second].map(({ url }) => new URL(url).searchParams.get('token') ?? '')
  assert.ok(tokens[0] !== tokens[1] && tokens.every((token) => token.length >= 32))
  await Promise.all([first.close(), second.close()])
})

test('figures that cannot be read are an answer that says so, and the server goes on', async () => {
  const metrics = (): string => {
    throw new Error('out of reach')
  }
  const server = await DashboardServer.start({ source: new StillSpace(), token: null, metrics })
  const port = Number(new URL(server.url).port)
  const failed = await askServer(port, '/metrics')
  assert.deepEqual([failed.status, failed.text], [500, 'the figures cannot be read: out of reach\n'])
  assert.equal((await askServer(port, '/')).status, 200)
  await server.close()
})

test('without a token nothing that an address says is kept or ends the server', async () => {
  const server = await DashboardServer.start({ source: new StillSpace(), token: null })
  const port = Number(new URL(server.url).port)
  const fromElsewhere = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate' }
  for (const token of ['%0a', '%00', 'x', 'a;b=c', '%F0%9F%98%80']) {
    const { status, headers } = await askServer(port, `/?token=${token}`, { headers: fromElsewhere })
    assert.deepEqual([status, headers.location, headers['set-cookie']], [303, '/', undefined], token)
  }
  assert.equal((await askServer(port, '/')).status, 200)
  await server.close()
})
