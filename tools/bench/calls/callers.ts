import { openChannel } from 'aether-dsm/internal/rpc'
import { connectGrpc } from '../peers/grpc-package.ts'
import type { WayName } from '../peers/peer-name.ts'
import { connectRedis } from '../peers/redis-package.ts'
import { benchService } from '../rpc-service.ts'
import { EchoSocket } from '../socket.ts'
import { type CallMeeting, echoSocketIn, grpcSocketIn } from './call-meeting.ts'
import type { Caller } from './caller.ts'
import { openIpcCaller } from './ipc-caller.ts'

/** Open one in this process. */
export const callers: Readonly<Record<WayName, (meeting: CallMeeting) => Promise<Caller>>> = {
  async aether({ device, address, port }) {
    const channel = openChannel({ device, address, port })
    await channel.ready()
    const client = channel.client(benchService)
    return { call: (data) => client.echo(data), close: () => channel.close() }
  },

  child_process: async () => openIpcCaller(),

  async socket({ directory }) {
    const socket = await EchoSocket.open(echoSocketIn(directory))
    return { call: (data) => socket.exchange(data), close: () => socket.close() }
  },

  async gRPC({ directory }) {
    const client = await connectGrpc(grpcSocketIn(directory))
    const call = (data: Buffer): Promise<unknown> =>
      new Promise((resolve, reject) => {
        client.echo(data, (error, answer) => {
          if (error === null) resolve(answer)
          else reject(error)
        })
      })
    return { call, close: () => client.close() }
  },

  async Redis({ directory }) {
    const client = await connectRedis(directory)
    return { call: (data) => client.echo(data), close: () => void client.close() }
  },
}
