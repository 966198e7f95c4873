import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { FarEnd, Pipe, PipeMeeting } from './pipe.ts'

const pathIn = (directory: string): string => join(directory, 'pipe.sock')

export async function listenSocketPipe({ directory }: PipeMeeting): Promise<FarEnd> {
  const server = createServer()
  const pipe = once(server, 'connection').then(([socket]) => pipeOf(socket as Socket))
  await new Promise<void>((resolve) => server.listen(pathIn(directory), resolve))
  return { told: 0, pipe }
}

export async function openSocketPipe({ directory }: PipeMeeting): Promise<Pipe> {
  const socket = connect(pathIn(directory))
  await once(socket, 'connect')
  return pipeOf(socket)
}

/** Messages all of one length need no frames: less than programs would have to do. */
function pipeOf(socket: Socket): Pipe {
  let bytes = 0
  const pipe: Pipe = {
    messageBytes: 1,
    onMessage: () => {},
    send: (data) => (socket.write(data) ? undefined : new Promise((resolve) => socket.once('drain', resolve))),
    close: () => void socket.destroy(),
  }
  socket.on('error', () => {})
  socket.on('data', (chunk) => {
    for (bytes += chunk.length; bytes >= pipe.messageBytes; ) {
      bytes -= pipe.messageBytes
      pipe.onMessage()
    }
  })
  return pipe
}
