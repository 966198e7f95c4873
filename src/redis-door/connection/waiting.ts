import type { Call, CommandSpec, Reply, ShardPort } from '../../index-service/index.ts'
import { faultOfThrown } from '../routing/faults.ts'
import type { DoorClient } from './client.ts'

interface WaitingCall {
  readonly spec: CommandSpec
  readonly call: Call
}

/** A call that may wait: until there is something, its time is over, or CLIENT UNBLOCK says what it comes to. */
export async function waited(client: DoorClient, port: ShardPort, { spec, call }: WaitingCall): Promise<Reply> {
  const blocked = new AbortController()
  client.blocked = blocked
  try {
    return await port.wait(call, spec.blocking!.timeoutMs(call.args), blocked.signal)
  } catch (error) {
    return blocked.signal.aborted ? (blocked.signal.reason as Reply) : faultOfThrown(error)
  } finally {
    client.blocked = undefined
  }
}
