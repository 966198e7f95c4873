import { connectEndpoint, type Endpoint, listenEndpoints } from 'aether-dsm/internal/messaging'
import { PEER_OPTIONS } from '../messaging-marks.ts'
import type { FarEnd, Pipe, PipeMeeting } from './pipe.ts'

export async function listenAetherPipe({ device, address }: PipeMeeting): Promise<FarEnd> {
  let arrived!: (pipe: Pipe) => void
  const pipe = new Promise<Pipe>((resolve) => {
    arrived = resolve
  })
  const accept = (endpoint: Endpoint): void => arrived(pipeOf(endpoint))
  const { port } = await listenEndpoints({ ...PEER_OPTIONS, device, address, accept })
  return { told: port, pipe }
}

export async function openAetherPipe({ device, address }: PipeMeeting, port: number): Promise<Pipe> {
  return pipeOf(await connectEndpoint({ ...PEER_OPTIONS, device, address, port }))
}

function pipeOf(endpoint: Endpoint): Pipe {
  const pipe: Pipe = {
    messageBytes: 0,
    onMessage: () => {},
    send: (data) => (endpoint.trySend(data) ? undefined : endpoint.send(data)),
    close: () => endpoint.close(),
  }
  endpoint.handlers = { receive: () => pipe.onMessage() }
  return pipe
}
