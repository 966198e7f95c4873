import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import process from 'node:process'
import { after, describe, it } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import express from 'express'
import session, { type SessionData } from 'express-session'
import { AetherSessionStore } from '../../src/adapters/express-session/index.ts'

declare module 'express-session' {
  interface SessionData {
    visits?: number
  }
}

const options = { skip: process.platform === 'linux' ? false : 'shared memory needs Linux' }

/** The store's methods as promises. */
class Calls {
  readonly store: AetherSessionStore
  constructor(store: AetherSessionStore) {
    this.store = store
  }
  get = (sid: string) => promisify<string, SessionData | null | undefined>(this.store.get.bind(this.store))(sid)
  set = (sid: string, value: SessionData) => promisify(this.store.set.bind(this.store))(sid, value)
  touch = (sid: string, value: SessionData) => promisify(this.store.touch.bind(this.store))(sid, value)
  destroy = (sid: string) => promisify(this.store.destroy.bind(this.store))(sid)
  length = () => promisify(this.store.length.bind(this.store))()
  all = () => promisify(this.store.all.bind(this.store))()
  clear = () => promisify(this.store.clear.bind(this.store))()
}

/** A session as the module hands it to a store. */
function sessionOf(visits: number, maxAge?: number): SessionData {
  const cookie = new session.Cookie()
  if (maxAge !== undefined) cookie.maxAge = maxAge
  return { cookie, visits }
}

describe('a store of sessions in shared memory', options, () => {
  const stores: AetherSessionStore[] = []
  const servers: Server[] = []
  const store = (name: string, ttlMs = 60_000): AetherSessionStore => {
    stores.push(new AetherSessionStore(`express-session-${process.pid}`, { name, ttlMs }))
    return stores.at(-1)!
  }
  after(async () => {
    for (const server of servers) server.close()
    for (const each of stores) await each.close()
  })

  it('is a Store of express-session', () => {
    assert.ok(store('class') instanceof session.Store)
  })

  it('gives what was set, through another store, too, and nothing for what was not', async () => {
    const [one, other] = [new Calls(store('sets')), new Calls(store('sets'))]
    await one.set('a', sessionOf(1))
    assert.equal((await other.get('a'))?.visits, 1)
    await other.set('a', sessionOf(2))
    assert.equal((await one.get('a'))?.visits, 2)
    assert.equal(await one.get('b'), null)
  })

  it('destroys, also what is not there', async () => {
    const calls = new Calls(store('destroys'))
    await calls.set('a', sessionOf(1))
    await calls.destroy('a')
    await calls.destroy('a')
    assert.equal(await calls.get('a'), null)
  })

  it('counts, lists and clears', async () => {
    const calls = new Calls(store('lists'))
    for (const sid of ['a', 'b', 'c']) await calls.set(sid, sessionOf(1))
    assert.equal(await calls.length(), 3)
    const ids = (await calls.all())?.map(({ id, visits }) => `${id}${visits}`)
    assert.deepEqual(ids?.sort(), ['a1', 'b1', 'c1'])
    await calls.clear()
    assert.equal(await calls.length(), 0)
    assert.deepEqual(await calls.all(), [])
  })

  it('lets a session go when its cookie expires, and one whose cookie does not say after the time of the store', async () => {
    const calls = new Calls(store('expires', 5))
    await calls.set('cookie', sessionOf(1, 5))
    await calls.set('store', sessionOf(1))
    await calls.set('stays', sessionOf(1, 60_000))
    await sleep(30)
    assert.equal(await calls.get('cookie'), null)
    assert.equal(await calls.get('store'), null)
    assert.equal((await calls.get('stays'))?.visits, 1)
    assert.equal(await calls.length(), 1)
  })

  it('keeps a session whose cookie has no date where one should be for the time of the store', async () => {
    const calls = new Calls(store('no date'))
    const session = sessionOf(1, 60_000)
    session.cookie.expires = new Date('no date')
    await calls.set('a', session)
    assert.equal((await calls.get('a'))?.visits, 1)
  })

  it('does not keep a session that has expired already', async () => {
    const calls = new Calls(store('expired'))
    await calls.set('a', sessionOf(1, 60_000))
    await calls.set('a', sessionOf(2, -1))
    assert.equal(await calls.get('a'), null)
  })

  it('touches: the cookie is new, the rest is what was set last, and what is gone stays gone', async () => {
    const calls = new Calls(store('touches'))
    await calls.set('a', sessionOf(2, 60_000))
    await calls.touch('a', sessionOf(1, 120_000))
    const touched = await calls.get('a')
    assert.equal(touched?.visits, 2)
    assert.equal(touched?.cookie.originalMaxAge, 120_000)
    await calls.touch('b', sessionOf(1, 60_000))
    assert.equal(await calls.get('b'), null)
  })

  it('hands errors to the callback', async () => {
    const calls = new Calls(new AetherSessionStore('no name for a space/'))
    await assert.rejects(calls.get('a'), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
    await assert.rejects(calls.set('a', sessionOf(1)), { code: 'ERR_AETHER_INVALID_ARGUMENT' })
  })

  /** A server of its own, with a store of its own. */
  async function serve(): Promise<string> {
    const app = express()
    const cookie = { maxAge: 60_000 }
    app.use(
      session({
        store: store('served'),
        secret: 'shared',
        resave: false,
        saveUninitialized: false,
        rolling: true,
        cookie,
      }),
    )
    app.get('/', ({ session: mine }, response) => {
      mine.visits = (mine.visits ?? 0) + 1
      response.json(mine.visits)
    })
    app.get('/anew', ({ session: mine }, response) => mine.regenerate(() => response.json(null)))
    app.get('/reload', ({ session: mine }, response) => mine.reload((error) => response.json(error === undefined)))
    app.get('/out', ({ session: mine }, response) => mine.destroy(() => response.json(null)))
    const server = app.listen(0, '127.0.0.1')
    servers.push(server)
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  it('carries a session from server to server, until it is destroyed', async () => {
    const [one, other] = [await serve(), await serve()]
    const first = await fetch(one)
    assert.equal(await first.json(), 1)
    const headers = { cookie: first.headers.get('set-cookie')!.split(';')[0]! }
    const visit = async (url: string): Promise<unknown> => (await fetch(url, { headers })).json()
    assert.equal(await visit(other), 2)
    assert.equal(await visit(one), 3)
    assert.equal(await visit(`${other}/reload`), true)
    assert.equal(await visit(`${other}/out`), null)
    assert.equal(await visit(one), 1, 'a destroyed session begins anew')
    assert.equal(await visit(`${one}/anew`), null)
  })
})
