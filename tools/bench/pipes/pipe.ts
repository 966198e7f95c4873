import type { ChildProcess } from 'node:child_process'
import type { WayName } from '../peers/peer-name.ts'
import { listenAetherPipe, openAetherPipe } from './aether-pipe.ts'
import { listenGrpcPipe, openGrpcPipe } from './grpc-pipe.ts'
import { farIpcPipe, nearIpcPipe } from './ipc-pipe.ts'
import { listenRedisPipe, openRedisPipe } from './redis-pipe.ts'
import { listenSocketPipe, openSocketPipe } from './socket-pipe.ts'

/** One end of a way for messages between two processes, both in their event loops. */
export interface Pipe {
  /** In order. A promise where its room is used up, until there is some. */
  send(data: Uint8Array): void | Promise<void>
  /** Called with each message that comes. */
  onMessage: () => void
  /** How long messages that come are: a socket is a stream of bytes, and counts them. */
  messageBytes: number
  close(): void | Promise<void>
}

/** Where the two ends meet. */
export interface PipeMeeting {
  readonly device: string
  readonly address: string
  /** For sockets. */
  readonly directory: string
}

/** The far end before it is connected: a number for the near one, and the pipe when it is there. */
export interface FarEnd {
  readonly told: number
  readonly pipe: Promise<Pipe>
}

/** Open the far end, in the other process. */
export const farEnds: Readonly<Record<WayName, (meeting: PipeMeeting) => Promise<FarEnd>>> = {
  aether: listenAetherPipe,
  child_process: farIpcPipe,
  socket: listenSocketPipe,
  gRPC: listenGrpcPipe,
  Redis: listenRedisPipe,
}

/** Connect to it. */
export const nearEnds: Readonly<
  Record<WayName, (meeting: PipeMeeting, told: number, child: ChildProcess) => Promise<Pipe>>
> = {
  aether: openAetherPipe,
  child_process: nearIpcPipe,
  socket: openSocketPipe,
  gRPC: openGrpcPipe,
  Redis: openRedisPipe,
}
