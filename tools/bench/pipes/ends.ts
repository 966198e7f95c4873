import type { ChildProcess } from 'node:child_process'
import type { WayName } from '../peers/peer-name.ts'
import { listenAetherPipe, openAetherPipe } from './aether-pipe.ts'
import { listenGrpcPipe, openGrpcPipe } from './grpc-pipe.ts'
import { farIpcPipe, nearIpcPipe } from './ipc-pipe.ts'
import type { FarEnd, Pipe, PipeMeeting } from './pipe.ts'
import { listenRedisPipe, openRedisPipe } from './redis-pipe.ts'
import { listenSocketPipe, openSocketPipe } from './socket-pipe.ts'

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
