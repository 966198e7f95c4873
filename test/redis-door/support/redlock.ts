import { createRequire } from 'node:module'
import type { Cluster, Redis } from 'ioredis'

interface Lock {
  readonly value: string
  extend(durationMs: number): Promise<Lock>
  release(): Promise<unknown>
}

interface RedlockOptions {
  readonly retryCount?: number
  readonly retryDelay?: number
}

interface Redlock {
  acquire(resources: readonly string[], durationMs: number): Promise<Lock>
  using<T>(resources: readonly string[], durationMs: number, run: () => Promise<T>): Promise<T>
}

type RedlockClass = new (clients: readonly (Redis | Cluster)[], options?: RedlockOptions) => Redlock

const require = createRequire(import.meta.url)
const { default: found } = require('redlock') as { readonly default: RedlockClass }

/** The class of `redlock`, whose types its package does not export. */
export const redlockClass: RedlockClass = found
