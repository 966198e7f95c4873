import { thisMachine } from '../../cluster/index.ts'
import {
  type ReplicaGroup,
  type ReplicaPort,
  ReplicaProcess,
  type ReplicaProcessOptions,
} from '../../consensus/index.ts'
import type { RegionGroup } from '../../dsm/index.ts'
import { type ConnectLine, connectLine } from '../client/client-line.ts'
import { type OpenReadLine, ReadLine } from '../client/read-line.ts'
import type { Place } from './index-contract.ts'
import { IndexServer, type IndexServerOptions, type Served } from './index-server.ts'
import type { ListenPlace } from './listen-place.ts'
import { NodeCards } from './node-cards.ts'
import { type NodeReads, ReadListener } from './read-listener.ts'

/** What a node needs of its group. */
export interface NodeGroup extends ReplicaGroup, Pick<RegionGroup, 'oneMachine'> {}

/** What a node needs of the world besides: simulations have another one. */
export interface NodeHost {
  readonly machine: string
  /** Let clients come. */
  serve(served: Served, options: IndexServerOptions): Promise<Pick<IndexServer, 'here' | 'beyond' | 'close'>>
  /** Let clients of this machine find the node of an index, until the returned function is called. */
  show(name: string, rank: number, place: Place): () => void
  readonly connect: ConnectLine
  readonly openReads: OpenReadLine
  /** Let other machines READ by a device; undefined if they cannot. */
  listenForReads(place: ListenPlace | undefined, device: string): Promise<NodeReads | undefined>
  /** That of a shard. */
  startReplica(options: ReplicaProcessOptions, shard: number): Promise<ReplicaPort>
}

export const thisHost: NodeHost = {
  get machine() {
    return thisMachine().space
  },
  serve: (served, options) => IndexServer.open(served, options),
  show: (name, rank, place) => new NodeCards(name).show(rank, place),
  connect: connectLine,
  openReads: ReadLine.open,
  listenForReads: ReadListener.listen,
  startReplica: (options) => ReplicaProcess.start(options),
}
