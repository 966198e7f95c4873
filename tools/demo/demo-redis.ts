import { AetherError } from 'aether-dsm/internal/native'
import { connectRedis } from '../bench/peers/redis-package.ts'
import { RedisServer, redisProvider } from '../bench/peers/redis-server.ts'
import { ScratchDirectory } from '../bench/scratch-directory.ts'

/** A Redis server that the demo has started, on a Unix socket in a directory of its own. */
export interface DemoRedis extends AsyncDisposable {
  readonly directory: string
  /** `Redis 7.0.15`. */
  readonly name: string
}

/** Start one, or say why there is none. */
export async function startRedis(): Promise<DemoRedis | string> {
  const scratch = new ScratchDirectory()
  let server: RedisServer | undefined
  const dispose = async (): Promise<void> => {
    await server?.[Symbol.asyncDispose]()
    scratch[Symbol.dispose]()
  }
  try {
    server = await RedisServer.start(scratch.path)
    await (await connectRedis(scratch.path)).close()
    return { directory: scratch.path, name: redisProvider(), [Symbol.asyncDispose]: dispose }
  } catch (error) {
    await dispose()
    if (error instanceof AetherError) return error.message
    throw error
  }
}
