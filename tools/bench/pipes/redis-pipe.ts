import { connectRedis } from '../peers/redis-package.ts'
import type { FarEnd, Pipe, PipeMeeting } from './pipe.ts'

/** Messages by PUBLISH to who has SUBSCRIBEd: each goes through the server. */
export async function listenRedisPipe({ directory }: PipeMeeting): Promise<FarEnd> {
  return { told: 0, pipe: Promise.resolve(await openPipe(directory, 'to-near', 'to-far')) }
}

export function openRedisPipe({ directory }: PipeMeeting): Promise<Pipe> {
  return openPipe(directory, 'to-far', 'to-near')
}

async function openPipe(directory: string, there: string, here: string): Promise<Pipe> {
  // One that has subscribed takes no other commands.
  const [sender, receiver] = await Promise.all([connectRedis(directory), connectRedis(directory)])
  const pipe: Pipe = {
    messageBytes: 0,
    onMessage: () => {},
    send: (data) => void sender.publish(there, Buffer.from(data.buffer, data.byteOffset, data.length)),
    async close() {
      await receiver.close()
      await sender.close()
    },
  }
  await receiver.subscribe(here, () => pipe.onMessage(), true)
  return pipe
}
