import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { createAdapter } from '@socket.io/redis-adapter'
import { Redis } from 'ioredis'
import { Server } from 'socket.io'
import { io as connectSocket } from 'socket.io-client'
import type { OpenProgram } from './client-programs.ts'

/** A server of Socket.IO, with its adapter and the clients of Redis that this has. */
export interface SocketServer {
  readonly io: Server
  readonly port: number
  close(): Promise<void>
}

/** `redisPort`: of the door that it uses. */
export async function openSocketServer(redisPort: number): Promise<SocketServer> {
  const clients = [0, 1].map(() => new Redis({ port: redisPort }).on('error', () => undefined))
  const http = createServer()
  const io = new Server(http, { adapter: createAdapter(clients[0], clients[1]) })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    io,
    port: (http.address() as AddressInfo).port,
    async close() {
      // Its adapter leaves channels, and does not wait for it.
      await io.close()
      await Promise.all(clients.map((client) => client.quit().catch(() => client.disconnect())))
    },
  }
}

const HEARD_MS_MAX = 500

/** What a server tells clients of another one, whose door is another node. */
export const openSocketProgram: OpenProgram = async ([first, second]) => {
  const [hearing, telling] = await Promise.all([openSocketServer(first!), openSocketServer(second!)])
  const socket = connectSocket(`http://127.0.0.1:${hearing!.port}`, { transports: ['websocket'] })
  await once(socket as never, 'connect')
  return {
    async write(at) {
      const heard = new Promise<void>((resolve) => {
        socket.on('news', (number: number) => number === at && resolve())
      })
      telling!.io.emit('news', at)
      const isHeard = await Promise.race([heard.then(() => true), sleep(HEARD_MS_MAX, false)])
      socket.off('news')
      if (!isHeard) throw new Error(`not heard: ${at}`)
      return undefined
    },
    async close() {
      socket.disconnect()
      await Promise.all([hearing!.close(), telling!.close()])
    },
  }
}
