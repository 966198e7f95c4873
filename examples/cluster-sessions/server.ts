/**
 * One worker: sessions, a cache and a limit, each by the package that services use for it, all kept in memory that the
 * workers share.
 *
 * What it answers stands in headers, without a body: express-session sends a body but for its last byte before the
 * session is kept, and the load generator cannot go on after half an answer of a worker that was killed.
 */
import process from 'node:process'
import { AetherSessionStore } from 'aether-dsm/adapters/express-session'
import { KeyvAether } from 'aether-dsm/adapters/keyv'
import { RateLimiterAether } from 'aether-dsm/adapters/rate-limiter-flexible'
import { createCache } from 'cache-manager'
import express from 'express'
import session from 'express-session'
import Keyv from 'keyv'
import { RateLimiterRes } from 'rate-limiter-flexible'
import { Header, hourMs, limitOptions } from './terms.ts'

declare module 'express-session' {
  interface SessionData {
    visits?: number
  }
}

const [space = '', tickets = ''] = process.argv.slice(2)

const sessions = session({
  store: new AetherSessionStore(space), // with a Redis: new RedisStore({ client })
  secret: 'keyboard cat',
  resave: false,
  saveUninitialized: false,
  cookie: { maxAge: hourMs },
})
const cache = createCache({ stores: [new Keyv({ store: new KeyvAether(space) })], ttl: hourMs })
const limiter = new RateLimiterAether({ ...limitOptions(Number(tickets)), storeClient: space })

/** What takes long, and is the same for all: done by who needs it first. */
async function catalogue(): Promise<string> {
  return `made by ${process.pid}`
}

const app = express()
app.use(sessions)

app.get('/', async (request, response) => {
  request.session.visits = (request.session.visits ?? 0) + 1
  response.set(Header.Visits, String(request.session.visits))
  response.set(Header.Catalogue, await cache.wrap('catalogue', catalogue))
  response.set(Header.Worker, String(process.pid))
  response.status(204).end()
})

app.get('/ticket', async (_request, response) => {
  try {
    await limiter.consume('tickets')
    response.set(Header.Ticket, 'yes').status(204).end()
  } catch (refusal) {
    if (!(refusal instanceof RateLimiterRes)) throw refusal
    response.set(Header.Ticket, 'no').status(429).end()
  }
})

// The cluster gives each worker the same port, whichever is free.
app.listen(0, '127.0.0.1')
