/** A web service as many are: sessions and a table of scores in Redis. Nothing in it knows of Aether. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@redis/client'
import { RedisStore } from 'connect-redis'
import express from 'express'
import session from 'express-session'
import { Redis } from 'ioredis'

declare module 'express-session' {
  interface SessionData {
    name?: string
    visits?: number
  }
}

export interface Service {
  readonly address: string
  close(): Promise<void>
}

/** `url`: where Redis is, or what takes its clients. */
export async function startService(url: string): Promise<Service> {
  const sessions = createClient({ url })
  await sessions.connect()
  const redis = new Redis(url)
  const app = express()
  app.use(
    session({
      store: new RedisStore({ client: sessions, ttl: 3600 }),
      secret: 'of this example',
      resave: false,
      saveUninitialized: false,
    }),
  )

  app.post('/login/:name', (request, response) => {
    request.session.name = request.params.name
    response.send('welcome')
  })

  app.post('/play/:points', async (request, response) => {
    const { name } = request.session
    if (name === undefined) {
      response.status(401).send('log in first')
      return
    }
    request.session.visits = (request.session.visits ?? 0) + 1
    const done = await redis.multi().zincrby('scores', request.params.points, name).incr('games').exec()
    response.json({ name, visits: request.session.visits, score: Number(done![0]![1]) })
  })

  app.get('/scores', async (_request, response) => {
    const scores = await redis.zrevrange('scores', 0, 9, 'WITHSCORES')
    response.json({ scores, games: Number(await redis.get('games')) })
  })

  const server = await new Promise<Server>((resolve) => {
    const listening = app.listen(0, '127.0.0.1', () => resolve(listening))
  })
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      server.close()
      redis.disconnect()
      await sessions.close()
    },
  }
}
