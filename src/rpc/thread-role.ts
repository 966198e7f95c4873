/** What an IO thread does with connections that carry calls. Loaded by the thread. */
import type { IoThread, LinkTaker } from '../messaging/index.ts'
import { ArgumentError } from '../native/index.ts'
import type { ServerThreadModule } from './serve-on-threads.ts'
import { Server } from './server.ts'

export async function open(module: unknown, thread: IoThread): Promise<LinkTaker> {
  const { serve } = module as Partial<ServerThreadModule>
  const server = typeof serve === 'function' ? await serve(thread) : undefined
  if (!(server instanceof Server))
    throw new ArgumentError(
      'threads.module',
      'the module of an IO thread must export a function `serve(thread)` that returns a Server',
    )
  return {
    onLink: (link) => server.accept(link),
    close: (timeoutMs) => server.drain({ timeoutMs }),
  }
}
