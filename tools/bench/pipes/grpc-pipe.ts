import { join } from 'node:path'
import { connectGrpc, type GrpcStream, serveGrpc } from '../peers/grpc-package.ts'
import type { FarEnd, Pipe, PipeMeeting } from './pipe.ts'

const pathIn = (directory: string): string => join(directory, 'grpc-pipe.sock')

/** A call with a stream of messages in both directions: the least that gRPC can do for a message. */
export async function listenGrpcPipe({ directory }: PipeMeeting): Promise<FarEnd> {
  let arrived!: (pipe: Pipe) => void
  const pipe = new Promise<Pipe>((resolve) => {
    arrived = resolve
  })
  await serveGrpc(pathIn(directory), (stream) => arrived(pipeOf(stream, () => {})))
  return { told: 0, pipe }
}

export async function openGrpcPipe({ directory }: PipeMeeting): Promise<Pipe> {
  const client = await connectGrpc(pathIn(directory))
  const stream = client.messages()
  return pipeOf(stream, () => {
    stream.cancel?.()
    client.close()
  })
}

function pipeOf(stream: GrpcStream, close: () => void): Pipe {
  const pipe: Pipe = {
    messageBytes: 0,
    onMessage: () => {},
    send: (data) =>
      stream.write(asBuffer(data)) ? undefined : new Promise((resolve) => stream.once('drain', resolve)),
    close,
  }
  // A call that is cancelled ends with an error at both ends.
  stream.on('error', () => {})
  stream.on('data', () => pipe.onMessage())
  return pipe
}

/** The same memory. */
function asBuffer(data: Uint8Array): Buffer {
  return Buffer.from(data.buffer, data.byteOffset, data.length)
}
