import { Server } from 'socket.io'
import * as bullmq from '../../../src/adapters/bullmq/index.ts'
import * as sessions from '../../../src/adapters/express-session/index.ts'
import * as keyv from '../../../src/adapters/keyv/index.ts'
import * as telemetry from '../../../src/adapters/opentelemetry/index.ts'
import * as limits from '../../../src/adapters/rate-limiter-flexible/index.ts'
import * as socketIo from '../../../src/adapters/socket.io/index.ts'
import { inLists, type Recipes } from '../recipe.ts'

const SPACE = 'bad-arguments'

export async function keyvRecipes(): Promise<Recipes> {
  const store = new keyv.KeyvAether(SPACE)
  await store.ready()
  return {
    module: keyv,
    objects: inLists({ KeyvAether: store }),
    values: {
      namespace: () => undefined,
      key: () => 'key',
      keys: () => ['key'],
      value: () => 1,
      entries: () => [{ key: 'key', value: 1 }],
      where: () => SPACE,
    },
    calls: {
      'new KeyvAether': { args: () => [SPACE, {}] },
    },
    async close() {
      await store.disconnect()
    },
  }
}

export async function sessionRecipes(): Promise<Recipes> {
  const store = new sessions.AetherSessionStore(SPACE)
  await store.ready()
  return {
    module: sessions,
    objects: inLists({ AetherSessionStore: store }),
    values: { sid: () => 'sid', session: () => ({ cookie: {} }), callback: () => () => {}, where: () => SPACE },
    data: ['session'],
    calls: {
      'new AetherSessionStore': { args: () => [SPACE, {}] },
    },
    async close() {
      await store.close()
    },
  }
}

export async function limiterRecipes(): Promise<Recipes> {
  return {
    module: limits,
    objects: {},
    values: {},
    calls: {
      'new RateLimiterAether': { args: () => [{ storeClient: SPACE, points: 5, duration: 1 }] },
    },
    async close() {},
  }
}

export async function socketIoRecipes(): Promise<Recipes> {
  const io = new Server()
  const adapter = socketIo.createAdapter(SPACE)(io.of('/'))
  await adapter.ready()
  return {
    module: socketIo,
    objects: inLists({ AetherAdapter: adapter }),
    values: { where: () => SPACE },
    calls: { 'AetherAdapter.close': { neverRight: 'the others need it' } },
    async close() {
      await adapter.close()
    },
  }
}

export async function queueRecipes(): Promise<Recipes> {
  return {
    module: bullmq,
    objects: {},
    values: { space: () => SPACE },
    calls: { aetherBackend: { args: () => [SPACE, {}] } },
    async close() {},
  }
}

export async function telemetryRecipes(): Promise<Recipes> {
  return { module: telemetry, objects: {}, values: {}, calls: {}, async close() {} }
}
