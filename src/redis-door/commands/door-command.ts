import type { FaultReply, ShardScratch } from '../../index-service/index.ts'
import type { ScriptRights } from '../access/door-users.ts'
import type { DoorClient } from '../connection/client.ts'
import type { DoorServices } from '../door-services.ts'
import type { DoorReply } from '../protocol/door-reply.ts'
import type { LateNews } from '../scripts/script-calls.ts'

/** Of a program in a shard. */
interface Part {
  readonly scratch: ShardScratch
  readonly shard: number
  readonly db: number
  readonly rights: ScriptRights
  /** Is told what others are to know when all has taken effect. */
  readonly late: LateNews
}

/** A command about the connection or the door. What is about keys is the index' own. `args` are without its name. */
export interface DoorCommand {
  /** In lower case. */
  readonly name: string
  /** As Redis counts: with the name; negative says at least. */
  readonly arity: number
  /** Within MULTI: it is done at once, or refused. Default: it waits for EXEC. */
  readonly inTransaction?: 'at once' | 'refused'
  /** It may come before AUTH. */
  readonly isOpen?: true
  /** A client of RESP2 that is subscribed to something may use it. */
  readonly isForSubscribers?: true
  /** The keys that it is about, if it is. @throws CommandFault */
  readonly keys?: (args: readonly Uint8Array[]) => readonly Uint8Array[]
  /** For EXEC, if the command is about keys: it is a part of the whole. It must not throw. */
  readonly within?: (door: DoorServices, args: readonly Uint8Array[], part: Part) => DoorReply
  /** Why it is refused before it is begun, or waits for EXEC: an unknown subcommand. */
  readonly refusal?: (args: readonly Uint8Array[]) => FaultReply | undefined
  /** @throws CommandFault */
  readonly run: (door: DoorServices, client: DoorClient, args: readonly Uint8Array[]) => DoorReply | Promise<DoorReply>
}
