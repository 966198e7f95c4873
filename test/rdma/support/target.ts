/**
 * The other end: memory that others reach, and queue pairs for it. Runs `target-main.ts`; talks over TCP, one line of
 * JSON each way per connection.
 */
import { connect } from 'node:net'
import type { RegionToken, RemoteEndpoint } from '../../../src/verbs/index.ts'
import type { Initiator } from './initiator.ts'
import type { Program } from './program.ts'
import { REMOTE_ADDRESS, type RemoteHost } from './remote-host.ts'

/**
 * 4.096 µs × 2^16 is 268 ms, and six retries: a peer that is gone is known after some two seconds, on soft-RoCE up to
 * four times that.
 */
const patient = { timeout: 16, retryCount: 6 }

/** A target on the other host, for as long as it is in scope. */
export class Target implements AsyncDisposable {
  readonly #program: Program
  readonly #port: number

  private constructor(program: Program, port: number) {
    this.#program = program
    this.#port = port
  }

  static async start(remote: RemoteHost): Promise<Target> {
    const program = remote.start('node', 'dist/test/rdma/support/target-main.js')
    const [, port] = await program.until(/target is listening on port (\d+)/)
    return new Target(program, Number(port))
  }

  /** Connects the queue pair of `initiator`, and gives where the target's memory is. */
  async connect(initiator: Initiator): Promise<RegionToken> {
    const { endpoint, token } = await meet(REMOTE_ADDRESS, this.#port, initiator.pair.endpoint)
    initiator.connect(endpoint, patient)
    return token
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#program.kill('SIGKILL')
    await this.#program.ended
  }
}

/** Gids are bigint, which JSON does not know. */
interface Introduction {
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
function meet(address: string, port: number, own: RemoteEndpoint): Promise<ReturnType<typeof understand>> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, address)
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
