import { readdirSync, readFileSync } from 'node:fs'
import { after } from 'node:test'
import {
  connectEndpoint,
  type Endpoint,
  type ListenEndpointsOnThreadsOptions,
  listenEndpointsOnThreads,
  type ThreadListener,
} from '../../../src/messaging/index.ts'
import { Order } from './fixtures/handlers.ts'

export const where = { device: 'shm0', address: '127.0.0.1' }

export interface Place {
  readonly index: number
  readonly threadId: number
  readonly cpus: readonly number[]
}

const opened: ThreadListener[] = []

/** What a test that failed has left open would keep the others waiting. */
after(() => Promise.all(opened.map((listener) => listener.close({ timeoutMs: 100 }))))

/** Threads with the handlers of the fixture, and the words that they share. */
export async function openThreads(
  threads: Partial<ListenEndpointsOnThreadsOptions['threads']>,
  options: Omit<ListenEndpointsOnThreadsOptions, 'threads'> = {},
): Promise<{ readonly listener: ThreadListener; readonly words: Int32Array }> {
  const shared = new SharedArrayBuffer(12)
  const listener = await listenEndpointsOnThreads({
    ...where,
    ...options,
    threads: { module: new URL('./fixtures/handlers.js', import.meta.url), data: { shared }, ...threads },
  })
  opened.push(listener)
  return { listener, words: new Int32Array(shared) }
}

export function connectTo(listener: ThreadListener, place: typeof where = where): Promise<Endpoint> {
  return connectEndpoint({ ...place, port: listener.port })
}

export interface Answer {
  readonly data: Uint8Array
  readonly immediate: number | undefined
}

/** Send these bytes, and wait for what comes back. */
export function ask(endpoint: Endpoint, ...order: number[]): Promise<Answer> {
  return new Promise((resolve, reject) => {
    endpoint.handlers = {
      receive: (data, immediate) => resolve({ data: data.slice(), immediate }),
      error: reject,
    }
    endpoint.send(Uint8Array.from(order)).catch(reject)
  })
}

export async function placeOf(endpoint: Endpoint): Promise<Place> {
  const { data } = await ask(endpoint, Order.WhereAmI)
  return JSON.parse(new TextDecoder().decode(data)) as Place
}

/** Where the kernel lets a thread of this process run. */
export function allowedList(threadId: number): string {
  const status = readFileSync(`/proc/self/task/${threadId}/status`, 'latin1')
  return /Cpus_allowed_list:\s*(\S+)/.exec(status)?.[1] ?? ''
}

export function descriptors(): number {
  return readdirSync('/proc/self/fd').length
}
