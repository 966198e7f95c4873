import { grpcProvider } from './grpc-package.ts'
import type { WayName } from './peer-name.ts'
import { redisProvider } from './redis-server.ts'

/**
 * How rows call what they were measured through, with its version where it has one of its own. @throws AetherError
 * where it is not installed.
 */
export async function providerOfWay(way: Exclude<WayName, 'aether'>): Promise<string> {
  if (way === 'gRPC') return await grpcProvider()
  if (way === 'Redis') return redisProvider()
  return way === 'socket' ? 'Unix socket' : 'child_process'
}
