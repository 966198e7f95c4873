/** The other end: memory that others reach, and queue pairs for it. Runs `target-main.ts`; talks over TCP, one line of JSON each way per connection. */
import { connect } from 'node:net'
import type { RegionToken, RemoteEndpoint } from '../../../src/verbs/index.ts'
import type { Initiator } from './initiator.ts'
import type { Program } from './program.ts'
import { REMOTE_ADDRESS, type RemoteHost } from './remote-host.ts'

export const TARGET_PORT = 7100

/** 4.096 µs × 2^16 is 268 ms, and six retries: a peer that is gone is known after some two seconds, on soft-RoCE up to four times that. */
const patient = { timeout: 16, retryCount: 6 }

export async function startTarget(remote: RemoteHost): Promise<Program> {
  const target = remote.start('node', 'dist/test/rdma/support/target-main.js')
  await target.until(/target is listening/)
  return target
}

/** Connects the queue pair of `initiator` to the target on the other host, and gives where its memory is. */
export async function connectToTarget(initiator: Initiator): Promise<RegionToken> {
  const { endpoint, token } = await meetTarget(REMOTE_ADDRESS, initiator.pair.endpoint)
  initiator.connect(endpoint, patient)
  return token
}

/** Gids are bigint, which JSON does not know. */
export interface Introduction {
  readonly endpoint: Omit<RemoteEndpoint, 'gid'> & { readonly gid: string }
  readonly token?: RegionToken
}

export function introduce(endpoint: RemoteEndpoint, token?: RegionToken): string {
  const { gid, ...rest } = endpoint
  return `${JSON.stringify({ endpoint: { ...rest, gid: gid.toString(16) }, token })}\n`
}

export function understand(line: string): { readonly endpoint: RemoteEndpoint; readonly token: RegionToken } {
  const { endpoint, token }: Introduction = JSON.parse(line)
  const { gid, ...rest } = endpoint
  return { endpoint: { ...rest, gid: BigInt(`0x${gid}`) }, token: token ?? { address: 0, length: 0, key: 0 } }
}

/** Tells a target who we are; it makes a queue pair towards us and tells where its memory is. */
function meetTarget(address: string, own: RemoteEndpoint): Promise<ReturnType<typeof understand>> {
  return new Promise((resolve, reject) => {
    const socket = connect(TARGET_PORT, address)
    let text = ''
    socket.setEncoding('utf8')
    socket.on('error', reject)
    socket.on('connect', () => socket.write(introduce(own)))
    socket.on('data', (piece: string) => {
      text += piece
      if (!text.endsWith('\n')) return
      socket.end()
      resolve(understand(text))
    })
    socket.on('end', () => reject(new Error(`the target hung up; it had said: ${text}`)))
  })
}
