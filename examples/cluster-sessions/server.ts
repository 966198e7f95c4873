/**
 * One worker, started by `main.ts`. It uses popular packages for sessions, a cache and a rate limit, with stores that
 * keep everything in memory shared by all workers.
 *
 * Answers are in headers and have no body. express-session sends all of a body but its last byte before it has saved
 * the session. If the worker were killed then, the load generator could not recover from the incomplete answer.
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
  store: new AetherSessionStore(space), // with Redis: new RedisStore({ client })
  secret: 'keyboard cat',
  resave: false,
  saveUninitialized: false,
  cookie: { maxAge: hourMs },
})
const cache = createCache({ stores: [new Keyv({ store: new KeyvAether(space) })], ttl: hourMs })
const limiter = new RateLimiterAether({ ...limitOptions(Number(tickets)), storeClient: space })

/** Stands for work that takes long and has one result for all: the first worker that needs it does it. */
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

// Port 0: the cluster picks a free port and gives the same one to every worker.
app.listen(0, '127.0.0.1')
