import type { ChildProcess } from 'node:child_process'
import type { FarEnd, Pipe, PipeMeeting } from './pipe.ts'

/** A process with a channel to its parent, or to its child. */
type Channel = Pick<ChildProcess, 'on'> & {
  send?(message: unknown, done: () => void): boolean
}

export async function farIpcPipe(): Promise<FarEnd> {
  return { told: 0, pipe: Promise.resolve(pipeOver(process as unknown as Channel)) }
}

export async function nearIpcPipe(_: PipeMeeting, __: number, child: ChildProcess): Promise<Pipe> {
  return pipeOver(child as unknown as Channel)
}

/** Messages are bytes; what else travels there is what the two ends tell each other. */
function pipeOver(channel: Channel): Pipe {
  const nothing = (): void => {}
  const pipe: Pipe = {
    messageBytes: 0,
    onMessage: nothing,
    send(data) {
      let written = nothing
      const hasRoom = channel.send!(data, () => written())
      if (hasRoom) return undefined
      return new Promise((resolve) => {
        written = resolve
      })
    },
    close: nothing,
  }
  channel.on('message', (message: unknown) => {
    if (message instanceof Uint8Array) pipe.onMessage()
  })
  return pipe
}
